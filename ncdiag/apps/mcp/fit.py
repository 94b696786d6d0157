"""Cut an answer to a maximum size: first the least important parts, then all lists and texts, but no line to paste."""

from __future__ import annotations

import json
from typing import Any

Json = Any

_LEAST_READ = (
    ("unknown", 5), ("inputs.sections", 0), ("told", 3), ("conflicts", 3), ("looks", 60), ("findings.references", 1),
    ("suspects.references", 1), ("findings.evidence", 3), ("findings.consequences", 5), ("timeline", 4),
    ("comparison", 10), ("unknown", 0), ("looks", 20), ("findings", 10), ("hosts.reasons", 10), ("rules", 60),
    ("findings.evidence", 1), ("inputs", 10),
)  # fmt: skip
"""Lists by their path in an answer, and the number of items that are kept, in the order in which they are cut."""
_COARSER = ((10, 1000), (5, 500), (3, 250), (2, 160), (1, 100), (0, 60))
"""Maximum number of items of all lists, and of characters of all texts, in steps."""
_WHOLE = frozenset({"commands", "env"})
"""Tables of lines to paste: an entry is kept whole or left out."""
_NAMES = 100
"""Maximum length of names and single words, which are never cut."""


def size(answer: Json) -> int:
    """The number of characters of the answer as JSON."""
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def fitted(answer: dict[str, Json], most: int) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The answer in at most ``most`` characters of JSON, if its required fields fit; and a sentence for each cut."""
    left: dict[str, int] = {}
    for path, keep in _LEAST_READ:
        if size(answer) <= most:
            return answer, _sentences(left, 0)
        answer = _cut(answer, path.split("."), keep, path, left)
    for items, characters in _COARSER:
        if size(answer) <= most:
            break
        answer = {name: _coarser(value, items, characters, name, left) for name, value in answer.items()}
        left[""] = characters
    return answer, _sentences(left, left.pop("", 0))


def _sentences(left: dict[str, int], characters: int) -> tuple[str, ...]:
    told = [f"{path}: {count} omitted" for path, count in sorted(left.items()) if count]
    return (*told, *([f"texts are truncated at {characters} characters"] if characters else []))


def _cut(value: Json, path: list[str], keep: int, name: str, left: dict[str, int]) -> Json:
    """The value with the list at the path cut; lists on the path are traversed."""
    if isinstance(value, list):
        return [_cut(item, path, keep, name, left) for item in value]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    held = value[path[0]]
    if len(path) > 1:
        return {**value, path[0]: _cut(held, path[1:], keep, name, left)}
    if not isinstance(held, list) or len(held) <= keep:
        return value
    left[name] = left.get(name, 0) + len(held) - keep
    return {**value, path[0]: held[:keep]}


def _coarser(value: Json, items: int, characters: int, name: str, left: dict[str, int]) -> Json:
    if isinstance(value, str):
        most = max(characters, _NAMES if " " not in value else 0)
        return value if len(value) <= most else f"{value[:most].rstrip()} ..."
    if isinstance(value, list):
        left[name] = left.get(name, 0) + max(len(value) - items, 0)
        return [_coarser(item, items, characters, name, left) for item in value[:items]]
    if not isinstance(value, dict):
        return value
    if name.rpartition(".")[2] in _WHOLE:
        kept = {key: text for key, text in value.items() if len(str(text)) <= characters}
        left[name] = left.get(name, 0) + len(value) - len(kept)
        return kept
    return {key: _coarser(held, items, characters, f"{name}.{key}", left) for key, held in value.items()}
