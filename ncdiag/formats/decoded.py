"""Access to values of decoded JSON, which may have unexpected types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex

_LINE = lazy_regex(r"\s*(?:[\[\]{}\",]|-?\d|true|false|null)")
_SIZE_LIMIT = 8 << 20
_CLOSED = lazy_regex(r"\}\s*$")
_GOES_ON = lazy_regex(r"[\]},]")


def closed(last: str, line: str) -> bool:
    """True if the object ended with a brace in the first column.

    An inner one is followed by a comma or another bracket.
    """
    return _CLOSED.match(last) is not None and _GOES_ON.match(line) is None


def is_line(line: str) -> bool:
    """True if it has the form of a line of JSON."""
    return _LINE.match(line) is not None


def begins(line: str) -> bool:
    """True if it is the first line of a list of objects, or of the rest of one."""
    return line.lstrip().startswith(("[", '"'))


def more(last: str, line: str) -> bool:
    """True if the line continues a list that the previous line did not close."""
    closed_list = last.rstrip().endswith("]") and not last[:1].isspace()
    return not closed_list and _LINE.match(line) is not None


def listed(value: str) -> list[dict[str, Any]]:
    """The objects of a JSON list, up to the place where it is cut off or invalid."""
    import json  # most outputs are not JSON

    found: list[dict[str, Any]] = []
    value = value if value.lstrip().startswith(("[", "{")) else "[{" + value  # the first line was left out
    decoder, position = json.JSONDecoder(), value.find("{")
    while 0 <= position < _SIZE_LIMIT:
        try:
            item, end = decoder.raw_decode(value, position)
        except (ValueError, RecursionError):
            break
        found.append(item)
        position = value.find("{", end)
    return found


def opened(lines: Sequence[str]) -> dict[str, Any]:
    """The object of these lines, whose opening brace may be on a previous line; empty if it is cut off."""
    import json

    value = "\n".join(lines).strip()
    value = value if value.startswith("{") else "{" + value
    try:
        item, _ = json.JSONDecoder().raw_decode(value[:_SIZE_LIMIT])
    except (ValueError, RecursionError):
        return {}
    return table(item)


def tables(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """The objects of a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def table(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """An object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str | None:  # noqa: ANN401
    """A string; None for anything else."""
    return value if isinstance(value, str) else None


_STRING = lazy_regex(r"'((?:[^'\\\n]|\\.)*)'|\"(?:[^\"\\\n]|\\.)*\"|\b(?:None|True|False)\b")
_WORDS = {"None": "null", "True": "true", "False": "false"}


def from_python(value: str) -> str:
    """The text of a printed Python dict as JSON; tuples are unchanged."""
    return _STRING.sub(_of_json, value)


def _of_json(found: re.Match[str]) -> str:
    if found[1] is None:
        return _WORDS.get(found[0], found[0])
    inner = found[1].replace("\\'", "'")
    return '"' + re.sub(r'(?<!\\)"', '\\"', inner) + '"'
