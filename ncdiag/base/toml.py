"""The TOML parser: ``tomllib`` of the standard library, or the package ``tomli`` on older versions of Python.

Only code that reads definitions imports it; diagnosing a log with compiled definitions does not.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ncdiag.base.errors import DefinitionError
from ncdiag.base.patterns import lazy_regex

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["SIZE_LIMIT", "TOMLDecodeError", "definition", "loads", "table", "text_of"]

T = TypeVar("T")

SIZE_LIMIT = 1 << 20
"""Maximum size of a definition file in bytes; the longest shipped file has about 1 % of it."""

_PLACE = lazy_regex(r" ?\(at (?:line (\d+), column \d+|end of document)\)")


def text_of(path: Path) -> str:
    """The text of a definition file, which may be untrusted.

    Raises DefinitionError if it is not a regular file (reading a pipe would block, a device never ends) or is longer
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
    """A shipped TOML table, decoded as the type ``kind``."""
    return msgspec.convert(loads(path.read_text(encoding="utf-8")), kind)


def definition(text: str, file: str) -> dict[str, Any]:
    """The content of a TOML file written by a person; raises DefinitionError with the line if it is not valid TOML."""
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
