"""Exceptions of pickle in a traceback whose frames load a model: the file is damaged.

pickle raises them for any file or message (CPython Modules/_pickle.c), so the line of the exception alone proves
nothing about a model: a program may try several formats, or rebuild a cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.parsers import _context

_DAMAGE = lazy_regex(
    r"(?:_?pickle\.)?UnpicklingError: (?:invalid load key, |unpickling stack underflow|pickle data was truncated)"
    r"|EOFError: Ran out of input"
)
_LOADS = lazy_regex(
    r"torch/serialization\.py\"|\btorch\.load\(|\bjoblib\.load\(|joblib/numpy_pickle|load_(?:state_dict|checkpoint|pretrained|model|weights)\b"
    r"|from_pretrained|\.(?:pt|pth|ckpt|safetensors|distcp)\b"
)
"""In a frame or the code below it: it reads weights."""
_HEADER = "Traceback (most recent call last):"
_EVENT, _EXCEPTION = "checkpoint-damaged", "python-exception"


def judged(section: Section, read: Parsed) -> Parsed:
    """The same with the exceptions that say that a model's file is damaged as that event."""
    places = {section.number(index) for index in _damaged(section)}
    if not places:
        return read
    return msgspec.structs.replace(read, observations=tuple(_named(seen, places) for seen in read.observations))


def _named(seen: Observation, places: set[int]) -> Observation:
    if seen.entity != "Event" or seen.span.line not in places or seen.fields.get("event") != _EXCEPTION:
        return seen
    said = {"event": _EVENT, "origin": "launcher", "kind": "cause", "fields": {}}
    return msgspec.structs.replace(seen, fields=seen.fields | said)


def _damaged(section: Section) -> Iterator[int]:
    """The lines of exceptions of pickle below frames that load a model."""
    loads = False
    for index, line in enumerate(section.lines):
        if _HEADER in line:
            loads = False
        elif _DAMAGE.match(_context.split(line)[1]):
            if loads:
                yield index
        else:
            loads = loads or _LOADS.search(line) is not None
