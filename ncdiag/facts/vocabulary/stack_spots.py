"""The place of a process in its program, by its stack, as a sentence can name it."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model import StackDump, StackFrame
from ncdiag.facts.vocabulary.stacks import called_by, entered, is_own, main_threads, own_frame, place_words


class Spot(msgspec.Struct, frozen=True):
    """A place in a program at which processes are; ``kind`` is a `Place`, or empty where no function is known.

    ``caller``: the function of the user's own program that called it, if it is another one. ``inside``: that which it
    called in turn, such as the data set that a data loader asks.
    """

    kind: str
    function: str
    file: str | None = None
    line: int | None = None
    caller: StackFrame | None = None
    inside: StackFrame | None = None

    @property
    def text(self) -> str:
        """``in a collective (all_reduce, from model/layers.py:212)``, ``in read_shard (data.py:31)``.

        ``in ngrams (bleu/metrics.py:26), called by evaluate (eval.py:97)``,
        ``loading data (__next__, from train.py:41; in __getitem__, images.py:12)``.
        """
        if not self.kind:
            here = f"in {self.function} ({_at(self.file, self.line)})"
            by = self.caller
            return f"{here}, called by {by.function} ({_at(by.file, by.line)})" if by else here
        where = self.function
        if self.caller:
            where += f", from {_at(self.caller.file, self.caller.line)}"
        if self.inside:
            where += f"; in {self.inside.function}, {_at(self.inside.file, self.inside.line)}"
        return f"{place_words(self.kind)} ({where})"


def _at(file: str | None, line: int | None) -> str:
    """File and line; of an absolute path only the file and the folder that holds it."""
    short = "/".join(file.split("/")[-2:]) if file and file.startswith("/") else file or "?"
    return f"{short}:{line}"


def spot_of(dump: StackDump) -> Spot | None:
    """Where the main thread of a process is; None if its stack does not show it."""
    found = entered(dump)
    if found is not None:
        kind, frame = found
        caller = called_by(dump)
        by = None if caller == frame else caller
        return Spot(kind, frame.function.rpartition(".")[2], caller=by, inside=_called(dump, frame, by))
    own = called_by(dump) or own_frame(dump)
    return Spot("", own.function, own.file, own.line, _in_program(dump, own)) if own is not None else None


def _in_program(dump: StackDump, frame: StackFrame) -> StackFrame | None:
    """The function that called this one and is in a file beside the program; None if the function is there itself.

    py-spy prints the path of a file from the folder of its package on, so the first folder is the name of the package.
    """
    for thread in main_threads(dump):
        if frame in thread.frames and thread.frames[-1].function == "<module>":
            root = _root(thread.frames[-1].file)
            if _root(frame.file) == root:
                return None
            rest = thread.frames[thread.frames.index(frame) :]
            return next((each for each in rest if _root(each.file) == root and each.line is not None), None)
    return None


def _called(dump: StackDump, frame: StackFrame, caller: StackFrame | None) -> StackFrame | None:
    """The innermost function of the files beside the caller's that this one called, directly or not; None without."""
    if caller is None:
        return None
    for thread in main_threads(dump):
        if frame in thread.frames:
            called = thread.frames[: thread.frames.index(frame)]
            return next((each for each in called if is_own(each) and _root(each.file) == _root(caller.file)), None)
    return None


def _root(file: str | None) -> str:
    """The folder of a file that tells whose it is: its own of an absolute path, else the first one; empty without."""
    folder = (file or "").rpartition("/")[0]
    return folder if folder.startswith("/") else folder.partition("/")[0]
