"""What can go wrong, and what a user sees of it.

    NcdiagError                 one sentence for the user, never a traceback
    ├── UsageError              an option or argument makes no sense             exit 2
    ├── InputError              a source cannot be read at all                   exit 2 when nothing else could be read
    ├── DefinitionError         a rule, message or parser definition is wrong    exit 2 for private packs
    │     carries file, line, the offending text and a help sentence
    └── OutputError             the report cannot be written                     exit 4

A parser that meets bad input raises nothing: it leaves the lines unread, and the report counts them.

Where ncdiag itself is wrong, the part that fails is left out and named in the report (`contained`): one section, one
rule, one fix. docs/stages.md says how each stage may end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

FOUND, USAGE, NOTHING_UNDERSTOOD, NOT_WRITTEN, INTERNAL = 1, 2, 3, 4, 5
"""Exit codes: faults found, a bad option or input, nothing to judge, a report not written, a fault of ncdiag itself."""
INTERRUPTED, CLOSED_PIPE = 130, 141
"""Exit codes of a program that SIGINT or SIGPIPE ended, as a shell prints them."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120  (pathlib takes as long to import as all of this)
strict = False
"""Let `contained` raise: tests are to see every fault."""


class NcdiagError(Exception):
    """Base of all errors that are told to the user as one sentence."""

    exit_code = INTERNAL


class UsageError(NcdiagError):
    """An option or argument makes no sense."""

    exit_code = USAGE


class InputError(NcdiagError):
    """A source cannot be read at all."""

    exit_code = USAGE


class OutputError(NcdiagError):
    """The report cannot be written."""

    exit_code = NOT_WRITTEN


class DefinitionError(NcdiagError):
    """A rule, message or other definition file is wrong.

    ``str(error)`` reads ``file:line: reason`` followed by the offending text with a caret and a help line, where known.
    """

    exit_code = USAGE

    def __init__(  # noqa: PLR0913  (where and what, each of them optional)
        self, reason: str, *, file: str = "", line: int = 0, text: str = "", column: int = 0, hint: str = ""
    ) -> None:
        """Keep the parts; ``column`` counts from 0 within ``text``."""
        self.reason, self.file, self.line, self.text, self.column, self.hint = reason, file, line, text, column, hint
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        parts = [where + reason]
        if text:
            parts += [f"    {text}", "    " + " " * column + "^"]
        if hint:
            parts.append(f"  help: {hint}")
        super().__init__("\n".join(parts))


def contained(error: Exception, what: str) -> str:
    """A phrase for the report: ``what`` could not be done, and where in ncdiag it failed. It quotes no input.

    Raises the error again where it is one for the user, and where NCDIAG_DEBUG=1 asks to see it.
    """
    if strict or isinstance(error, NcdiagError) or os.environ.get("NCDIAG_DEBUG") == "1":
        raise error
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_PACKAGE)]
    at = f" at {frames[-1].filename.removeprefix(_PACKAGE)}:{frames[-1].lineno}" if frames else ""
    return f"{what} ({type(error).__name__}{at})"


def suggestion(word: str, choices: Iterable[str], also: str = "") -> str:
    """``did you mean 'x'?`` when one of the choices is near, else the choices when they are few, else ``also``."""
    import difflib

    known = sorted(choices)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if not near:
        folded = {name.lower(): name for name in known}
        near = [folded[word.lower()]] if word.lower() in folded else []
    if near:
        return f"did you mean {near[0]!r}?"
    few = 40
    return also or (f"known: {', '.join(known)}" if 0 < len(known) <= few else "")
