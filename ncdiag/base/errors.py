"""The errors of ncdiag, and what the user sees of each.

    NcdiagError                 one sentence for the user, never a traceback
    ├── UsageError              an option or argument is invalid                 exit 2
    ├── InputError              a source cannot be read                          exit 2 when nothing else could be read
    │   └── NoTextError         the only input is empty or not a text            exit 3
    ├── DefinitionError         a rule, message or parser definition is wrong    exit 2 for private packs
    │     carries file, line, the offending text and a help sentence
    └── OutputError             the report cannot be written                     exit 4

A parser raises nothing on bad input: it skips the lines, and the report counts them as not understood.

When ncdiag itself has a bug, the part that fails (one section, rule or fix) is left out and the report names it
(`contained`). docs/stages.md says how each stage may end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

FOUND, USAGE, NOTHING_UNDERSTOOD, NOT_WRITTEN, INTERNAL = 1, 2, 3, 4, 5
"""Exit codes: faults found, invalid option or input, nothing to judge, report not written, internal error."""
INTERRUPTED, CLOSED_PIPE = 130, 141
"""Exit codes after SIGINT or SIGPIPE, as a shell reports them."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120  (pathlib takes as long to import as all of this)
strict = False
"""If true, `contained` raises the error again, so that tests see every fault."""


class NcdiagError(Exception):
    """Base of all errors that are reported to the user as one sentence."""

    exit_code = INTERNAL


class UsageError(NcdiagError):
    """An option or argument is invalid."""

    exit_code = USAGE


class InputError(NcdiagError):
    """A source cannot be read."""

    exit_code = USAGE


class NoTextError(InputError):
    """The only input is empty, not a text (a core dump) or a folder of something else: there is nothing to judge."""

    exit_code = NOTHING_UNDERSTOOD


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
        """Store the parts of the error; ``column`` counts from 0 within ``text``."""
        self.reason, self.file, self.line, self.text, self.column, self.hint = reason, file, line, text, column, hint
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        parts = [where + reason]
        if text:
            parts += [f"    {text}", "    " + " " * column + "^"]
        if hint:
            parts.append(f"  help: {hint}")
        super().__init__("\n".join(parts))


def contained(error: Exception, what: str) -> str:
    """A phrase for the report: ``what`` failed, and where in ncdiag. It quotes no input.

    Raises the error again if it is meant for the user (NcdiagError), or if NCDIAG_DEBUG=1 is set.
    """
    if strict or isinstance(error, NcdiagError) or os.environ.get("NCDIAG_DEBUG") == "1":
        raise error
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_PACKAGE)]
    at = f" at {frames[-1].filename.removeprefix(_PACKAGE)}:{frames[-1].lineno}" if frames else ""
    return f"{what} ({type(error).__name__}{at})"


def suggestion(word: str, choices: Iterable[str], also: str = "") -> str:
    """``did you mean 'x'?`` if one of the choices is similar, else the choices if they are few, else ``also``."""
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
