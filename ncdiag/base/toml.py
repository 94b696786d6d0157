"""The reader of TOML: the standard library's, or the package that it came from where Python is older than that.

Imported only where definitions are read, never on the way from a log to a report.
"""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ncdiag.base.errors import DefinitionError

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["SIZE_LIMIT", "TOMLDecodeError", "definition", "loads", "table", "text_of"]

T = TypeVar("T")

SIZE_LIMIT = 1 << 20
"""Bytes of a file of definitions; the longest that is shipped has a hundredth of them."""

_PLACE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)")


def text_of(path: Path) -> str:
    """The text of a file of definitions, which may be a stranger's.

    Raises DefinitionError where it is not a regular file (a pipe would be waited for, a device never ends) or longer
    than `SIZE_LIMIT`; OSError and ValueError as `Path.read_text` does.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        reason = "this is not a regular file"
        raise DefinitionError(reason, file=str(path))
    if state.st_size > SIZE_LIMIT:
        reason = f"this file is longer than {SIZE_LIMIT >> 20} MiB"
        raise DefinitionError(reason, file=str(path))
    return path.read_text(encoding="utf-8")


def table(path: Path, kind: type[T]) -> T:
    """A table that is shipped, as this type."""
    return msgspec.convert(loads(path.read_text(encoding="utf-8")), kind)


def definition(text: str, file: str) -> dict[str, Any]:
    """The content of a file that a person wrote; DefinitionError with its line where it is not a TOML."""
    try:
        return loads(text)
    except TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1] or len(text.splitlines())) if place else 0
        reason = f"this is not valid TOML: {_PLACE.sub('', str(error))}"
        raise DefinitionError(reason, file=file, line=line) from None
    except (RecursionError, ValueError) as error:
        reason = f"this is not valid TOML: {error}"
        raise DefinitionError(reason, file=file) from None
