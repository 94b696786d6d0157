"""Where output goes: the answer to stdout or a file, everything else as one sentence to stderr."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

from ncdiag.errors import OutputError
from ncdiag.report.sanitize import clean, one_line


def say(sentence: str, *, lines: bool = False) -> None:
    """A note or an error for the person, sanitised, on stderr; a closed stderr is nobody's loss.

    ``lines``: the text is laid out in lines (a definition with a caret under its fault), not one sentence.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        text = f"ncdiag: {clean(sentence) if lines else one_line(sentence)}\n"
        sys.stderr.write(text)
        sys.stderr.flush()


def write(text: str, path: Path | None, *, encoding: str | None = None) -> None:
    """Write the answer to a file, or to stdout when ``path`` is None or ``-``.

    Raises OutputError when that fails, BrokenPipeError when the reader is gone. A regular file is replaced in one step.
    """
    if path is None or str(path) == "-":
        _to_stdout(text, encoding or getattr(sys.stdout, "encoding", None) or "utf-8")
        return
    try:
        _to_file(text.encode(encoding or "utf-8", "backslashreplace"), path)
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
    except (OSError, ValueError, AttributeError) as error:  # a full disk, a closed stdout, no stdout at all
        with contextlib.suppress(OSError):  # what stays in the buffer would fail once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        msg = f"cannot write the output: {getattr(error, 'strerror', None) or error}"
        raise OutputError(msg) from error


def _to_file(data: bytes, path: Path) -> None:
    """Write beside the target and rename; devices and pipes are written in place."""
    import tempfile

    path = Path(os.path.realpath(path))
    mode = _mode(path)
    if mode is None:
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(data)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    """Permissions of the file to be: those it has, else what the umask allows; None when it is no regular file."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask
    return stat.S_IMODE(found) if stat.S_ISREG(found) else None
