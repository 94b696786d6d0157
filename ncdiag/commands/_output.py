"""Write output: the answer to stdout or a file, everything else as one sentence to stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from ncdiag.base.errors import OutputError
from ncdiag.language import note
from ncdiag.report.sanitize import clean, one_line

_LEAST = 24
"""Minimum number of columns after an indentation for wrapping text."""


def say(sentence: str, *, lines: bool = False) -> None:
    """Print a note or an error for the user on stderr, sanitised; a closed stderr is ignored.

    It is translated to the language of the answer if there is a translation of its template.

    ``lines``: the text consists of lines (a definition with a caret under its fault), not one sentence.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        text = f"ncdiag: {clean(sentence) if lines else one_line(note(sentence))}\n"
        sys.stderr.write(text)
        sys.stderr.flush()


def unknown(sentence: str, *, in_line: bool) -> int:
    """Print why a monitoring plugin cannot determine a state, and return the exit code of UNKNOWN, 3.

    ``in_line``: as its status line on stdout. The guidelines require UNKNOWN for a wrong option and for a failure of
    the plugin.
    """
    from ncdiag.report.nagios import State, status_line

    if not in_line:
        say(sentence)
    else:
        with contextlib.suppress(OSError, OutputError):
            write(f"{status_line(State.UNKNOWN, sentence)}\n", None)
    return int(State.UNKNOWN)


def for_people(text: str, path: Path | None, keep: Collection[str] = ()) -> None:
    """Write text for people: sanitised, and wrapped on a terminal, except the lines to ``keep``."""
    text = clean(text)
    write(for_terminal(text, keep) if path is None else text, path)


def for_terminal(text: str, keep: Collection[str] = ()) -> str:
    """The text wrapped to the columns of the terminal, or to COLUMNS; unchanged for a file or a pipe."""
    into_terminal = sys.stdout is not None and sys.stdout.isatty()
    if not into_terminal and "COLUMNS" not in os.environ:
        return text
    return fitted(text, shutil.get_terminal_size().columns, keep)


def fitted(text: str, columns: int, keep: Collection[str] = ()) -> str:
    """The text with lines of at most ``columns``; continuation lines are indented by four more.

    ``keep``: lines to paste, without their indentation; a line break would change their meaning.
    """
    from ncdiag.language import cells

    lines: list[str] = []
    for line in text.split("\n"):
        blanks = line[: len(line) - len(line.lstrip())]
        if cells.width(line) <= columns or len(blanks) + _LEAST > columns or line.strip() in keep:
            lines.append(line)
        else:
            lines += cells.wrap(
                line.strip(), columns, blanks, f"{blanks}    ", break_long_words=False, break_on_hyphens=False
            )
    return "\n".join(lines)


def write(text: str, path: Path | None, *, encoding: str | None = None) -> None:
    """Write the answer to a file, or to stdout if ``path`` is None or ``-``.

    Raises OutputError if that fails, BrokenPipeError if the reader has closed the pipe. A regular file is replaced
    atomically.
    """
    if path is None or str(path) == "-":
        _to_stdout(text, encoding or getattr(sys.stdout, "encoding", None) or "utf-8")
        return
    to_file([text.encode(encoding or "utf-8", "backslashreplace")], path)


def pour(pieces: Iterable[bytes], path: Path | None) -> None:
    """Write pieces of text from the input as they come; otherwise like `write`.

    A terminal gets them sanitised. A file or a pipe gets every character: a later diagnosis reads the same text.
    """
    if path is None or str(path) == "-":
        shown = clean if sys.stdout is not None and sys.stdout.isatty() else str
        for piece in pieces:
            _to_stdout(shown(piece.decode("utf-8", "replace")), "utf-8")
    else:
        to_file(pieces, path)


def to_file(pieces: Iterable[bytes], path: Path, mode: int | None = None) -> None:
    """Create or replace a file atomically (`ncdiag.agent.place`).

    ``mode`` None: the mode of the existing file, for a new file according to the umask.

    Raises OutputError.
    """
    from ncdiag.agent.place import place

    try:
        place(pieces, str(path), _mode(path) if mode is None else mode)
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise OutputError(msg) from error


def _to_stdout(text: str, encoding: str) -> None:
    if sys.stdout is None:
        msg = "cannot write the output: stdout is closed"
        raise OutputError(msg)
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError, AttributeError) as error:  # a full disk, a closed or missing stdout
        with contextlib.suppress(OSError):  # the rest of the buffer would fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        msg = f"cannot write the output: {getattr(error, 'strerror', None) or error}"
        raise OutputError(msg) from error


def _mode(path: Path) -> int:
    """Permissions of the file: those of the existing one, else according to the umask."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask
