"""Everything that is read of a job while it runs, for a diagnosis at any time."""

from __future__ import annotations

import contextlib
import glob
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ncdiag.apps.watching import dumps
from ncdiag.apps.watching.follow import Files
from ncdiag.apps.watching.handlers import Handlers
from ncdiag.apps.watching.job import descendants
from ncdiag.apps.watching.kernel import Kernel, core_files
from ncdiag.apps.watching.outputs import Outputs
from ncdiag.apps.watching.place import Place
from ncdiag.apps.watching.settings import Settings
from ncdiag.apps.watching.stacks import Mode, Stacks, take
from ncdiag.apps.watching.standing import SILENT, silence, standing
from ncdiag.base.errors import InputError
from ncdiag.machine.inputs import inputs
from ncdiag.machine.nvml_use import use
from ncdiag.text import Growing, Item, Text, TextSource, Unreadable, read_source

_SHELL = 128
"""What shells and launchers add to the number of a signal."""
_CORES = frozenset({4, 6, 7, 8, 11})
"""SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: the signals that leave a core file (signal(7))."""
ENDED, KILLED = "the job ended with {code}", "the job was ended by signal {number} ({name})"
"""The last line of `ncdiag run`; the catalogue has both as ``run-ended``."""
_STOPPED = "ncdiag stopped the job after {seconds:.0f} s without output"
_CLOCKS = 2.0
"""Seconds by which the clock of a file system may be late."""
_SHOWN = 3


class End(msgspec.Struct, frozen=True):
    """How the job ended: its exit code, or the negative number of a signal, and its process id.

    ``silence``: seconds without output after which ncdiag stopped it; None if it ended without that.
    """

    code: int
    pid: int
    silence: float | None = None

    @property
    def text(self) -> str:
        """The end as a sentence, without a full stop."""
        if self.silence is not None:
            return _STOPPED.format(seconds=self.silence)
        if self.code >= 0:
            return ENDED.format(code=self.code)
        return KILLED.format(number=-self.code, name=_signal(-self.code))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


class Hang(msgspec.Struct, frozen=True):
    """A job that has printed nothing for ``silence`` seconds: what its processes on this host do.

    ``states``: the silence, and the state of each process, one line each. ``stacks``: their stacks, as far as they
    could be taken. ``gpus``: how busy the GPUs are, as nvidia-smi prints it; empty without any.
    """

    silence: float
    states: str
    stacks: Stacks
    gpus: str = ""

    @classmethod
    def of(cls, pid: int, seconds: float, mode: Mode, handlers: Handlers | None = None) -> Hang:
        """The hang of the job whose first process is ``pid``, as it is now; ``handlers``: with which it was started."""
        pids = [pid, *descendants(pid)]
        states = "".join(f"{line}\n" for line in (silence(SILENT, seconds), *standing(pids)))
        return cls(seconds, states, take(pids, mode, handlers=handlers), use())

    def texts(self) -> Iterator[Text]:
        """The states, the stacks and the use of the GPUs, as input of a diagnosis."""
        texts = {"ncdiag run": self.states, "py-spy dump": self.stacks.text, "NVML": self.gpus}
        for source, text in texts.items():
            if text:
                yield TextSource.of_bytes(source, text.encode("utf-8", "replace"))


class Session:
    """A job, its output, and the files that it writes."""

    def __init__(
        self, argv: Sequence[str], outputs: Outputs, settings: Settings, place: Place, report: Path | None = None
    ) -> None:
        """``argv`` is the command as given, ``report`` the file to which ncdiag writes."""
        self._argv, self.outputs, self._settings, self._place = argv, outputs, settings, place
        self._since = time.time() - _CLOCKS
        self._kernel, self._has_failed = Kernel(), False
        self._hang: Hang | None = None
        but = [str(report)] if report is not None else []
        self.files = Files(settings.logs, self._name_of, but=but, since=self._since)

    def _name_of(self, path: str) -> str:
        """Files that are not kept are shown by their name only."""
        return path.removeprefix(self._place.begin) if not self._place.kept else path

    def read(self, *, all_of_it: bool = False) -> bool:
        """Read new data; True if there was some, also if only on a terminal."""
        taken = self.outputs.read() + self.files.read(all_of_it=all_of_it)
        return self.outputs.has_news() or taken > 0

    @property
    def is_nccl_seen(self) -> bool:
        """True if NCCL has written a log, or to the output."""
        return any(source.size for source in self.files.sources) or any(
            source.has_nccl for source in self.outputs.sources
        )

    @property
    def kept(self) -> str:
        """The place of NCCL's logs after the end; empty if they are not kept."""
        return self._settings.own_log or (self._place.begin if self._place.kept else "")

    def sources(self) -> list[Growing]:
        """The sources with content."""
        return [source for source in (*self.files.sources, *self.outputs.sources) if source.size]

    def read_apart(self) -> tuple[list[Growing], list[Growing]]:
        """(output of the job, NCCL's logs)."""
        return self.outputs.sources, self.files.sources

    def items(
        self, environment: Mapping[str, str], *, end: End | None = None, hang: Hang | None = None
    ) -> Iterator[Item]:
        """The input of a diagnosis. ``end``: how the job ended; None while it runs. ``hang``: how it hangs, if so."""
        self._has_failed = end is not None and end.code != 0
        self._hang = hang
        return self._items(environment, end, hang)

    def _items(self, environment: Mapping[str, str], end: End | None, hang: Hang | None) -> Iterator[Item]:
        command = read_source(
            TextSource.of_bytes("the command", f"$ {shlex.join(self._argv)}\n".encode("utf-8", "replace"))
        )
        # an error message in the words of a command (of ``grep``, in a script) did not happen
        said = tuple(each for each in command.observations if each.entity != "Event")
        yield msgspec.structs.replace(command, observations=said)
        if end is None:
            dumps.ask_for_dumps(self._settings.pipes, self._settings.dumps)
        yield from (source.reading() for source in self.sources())
        for path in dumps.written(self._settings.dumps, self._since):
            try:
                yield from inputs([path])
            except InputError as error:  # noqa: PERF203  (one bad dump does not stop the others)
                yield Unreadable(path, str(error).removeprefix(f"cannot read {path}: "))
        if hang is not None:
            yield from hang.texts()
        if end is not None:
            yield TextSource.of_bytes("ncdiag run", f"{end.text}; its process was {end.pid}\n".encode())
        if self._has_failed:
            yield from self._kernel.texts()
        if end is not None and abs(end.code) % _SHELL in _CORES and end.code not in _CORES:
            yield from core_files()
        answer = dumps.ras(environment) if end is None else None
        if answer is not None:
            yield answer

    def keep(self, hang: Hang | None) -> Path:
        """Write states, stacks, use of the GPUs and the end of the output, copy logs and dumps; returns the folder.

        Raises OSError.
        """
        folder = Path(tempfile.mkdtemp(prefix="hang-" if self._place.kept else "ncdiag-hang-", dir=self._kept_folder))
        if hang is not None:
            (folder / "states.txt").write_text(hang.states, encoding="utf-8", errors="replace")
            (folder / "stacks.txt").write_text(hang.stacks.text, encoding="utf-8", errors="replace")
            (folder / "gpus.csv").write_text(hang.gpus, encoding="utf-8", errors="replace")
        for number, source in enumerate(source for source in self.outputs.sources if source.size):
            (folder / f"output-{number + 1}.txt").write_bytes(source.tail)
        logs = (path for pattern in self._settings.logs for path in glob.iglob(pattern))  # noqa: PTH207  (an absolute pattern)
        for path in () if self._place.kept else (*logs, *dumps.written(self._settings.dumps, self._since)):
            with contextlib.suppress(OSError):  # one that is gone does not stop the others
                shutil.copy(path, folder)
        return folder

    @property
    def _kept_folder(self) -> str | None:
        return self._place.begin if self._place.kept else None

    def not_seen(self) -> list[str]:
        """Phrases on what could not be read."""
        found = [self._kernel.not_seen] if self._has_failed and self._kernel.not_seen else []
        found += [phrase.partition(" (")[0] for phrase in self._hang.stacks.missing] if self._hang is not None else []
        found += [f"{name} of the job ({why})" for name, why in self.outputs.unread.items()]
        refused = [f"NCCL's log {self._name_of(path)} ({why})" for path, why in self.files.refused.items()]
        found += refused[:_SHOWN]
        if len(refused) > _SHOWN:
            found.append(f"{len(refused) - _SHOWN} more of NCCL's logs")
        if self._place.note:
            found.append(self._place.note)
        if self._settings.printed and self.outputs.unread:
            found.append("NCCL's lines, which go to that output because NCCL_DEBUG is set without NCCL_DEBUG_FILE")
        return found
