"""The reader of TOML: the standard library's, or the package that it came from where Python is older than that.

Imported only where definitions are read, never on the way from a log to a report.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from ncdiag.errors import DefinitionError

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "definition", "loads"]

_PLACE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)")


def definition(text: str, file: str) -> dict[str, Any]:
    """The content of a file that a person wrote; DefinitionError with its line where it is no TOML."""
    try:
        return loads(text)
    except TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1] or len(text.splitlines())) if place else 0
        reason = f"this is no TOML: {_PLACE.sub('', str(error))}"
        raise DefinitionError(reason, file=file, line=line) from None
    except (RecursionError, ValueError) as error:
        reason = f"this is no TOML: {error}"
        raise DefinitionError(reason, file=file) from None
