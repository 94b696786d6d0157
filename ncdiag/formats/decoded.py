"""Values of a decoded JSON text, where anything may be in place of what is expected."""

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
    """Did the object end with the brace in the first column? Behind an inner one stands a comma, or another bracket."""
    return _CLOSED.match(last) is not None and _GOES_ON.match(line) is None


def is_line(line: str) -> bool:
    """Does it look like a line of JSON?"""
    return _LINE.match(line) is not None


def begins(line: str) -> bool:
    """Is it the first line of a list of objects, or of what is left of one?"""
    return line.lstrip().startswith(("[", '"'))


def more(last: str, line: str) -> bool:
    """Does the line go on with a list that the line before it did not close?"""
    closed_list = last.rstrip().endswith("]") and not last[:1].isspace()
    return not closed_list and _LINE.match(line) is not None


def listed(value: str) -> list[dict[str, Any]]:
    """The objects of a list in JSON; what comes before the place where it was cut off, or no JSON any more."""
    import json  # the lines of every output are asked whether they are JSON, and few are

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
    """The object of these lines, whose own brace may be on a line before them; empty when it is cut off."""
    import json

    value = "\n".join(lines).strip()
    value = value if value.startswith("{") else "{" + value
    try:
        item, _ = json.JSONDecoder().raw_decode(value[:_SIZE_LIMIT])
    except (ValueError, RecursionError):
        return {}
    return table(item)


def tables(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """The objects of a list; nothing of what is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def table(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """An object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str | None:  # noqa: ANN401
    """A string; None in place of anything else."""
    return value if isinstance(value, str) else None


_STRING = lazy_regex(r"'((?:[^'\\\n]|\\.)*)'|\"(?:[^\"\\\n]|\\.)*\"|\b(?:None|True|False)\b")
_WORDS = {"None": "null", "True": "true", "False": "false"}


def from_python(value: str) -> str:
    """The text of a printed Python dict in the words of JSON; tuples stay."""
    return _STRING.sub(_of_json, value)


def _of_json(found: re.Match[str]) -> str:
    if found[1] is None:
        return _WORDS.get(found[0], found[0])
    inner = found[1].replace("\\'", "'")
    return '"' + re.sub(r'(?<!\\)"', '\\"', inner) + '"'
