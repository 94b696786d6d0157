"""Exceptions in a traceback whose frames load a model or map a file: the file is damaged, or cannot be mapped.

pickle raises its own for any file or message (CPython Modules/_pickle.c), so the line of the exception alone proves
nothing about a model: a program may try several formats, or rebuild a cache. ENODEV without a file may be that of a
socket or a sound card; below a call of mmap it says that the file system does not map files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.parsers import _context

_LOADS = (
    r"torch/serialization\.py\"|\btorch\.load\(|\bjoblib\.load\(|joblib/numpy_pickle|load_(?:state_dict|checkpoint|pretrained|model|weights)\b"
    r"|from_pretrained|\.(?:pt|pth|ckpt|safetensors|distcp)\b"
)
"""In a frame or the code below it: it reads weights."""
_MAPS = r"\bmmap\.mmap\(|\bmemmap\(|/memmap\.py\""
"""In a frame or the code below it: it maps a file (CPython Modules/mmapmodule.c, numpy/_core/memmap.py)."""


class _Fault(NamedTuple):
    """An event, the exception that reports it, and what the frames above that show."""

    event: str
    exception: re.Pattern[str]
    frames: re.Pattern[str]


_FAULTS = (
    _Fault(
        "checkpoint-damaged",
        lazy_regex(
            r"(?:_?pickle\.)?UnpicklingError: (?:invalid load key, |unpickling stack underflow"
            r"|pickle data was truncated)|EOFError: Ran out of input"
        ),
        lazy_regex(_LOADS),
    ),
    _Fault("file-not-mappable", lazy_regex(r"OSError: \[Errno 19\] No such device$"), lazy_regex(_MAPS)),
)
_HEADER = "Traceback (most recent call last):"
_EXCEPTION = "python-exception"


def judged(section: Section, read: Parsed) -> Parsed:
    """The same with the exceptions that say what is wrong with a file as that event."""
    if not any(map(_is_exception, read.observations)):
        return read
    found = {section.number(index): event for index, event in _faults(section)}
    if not found:
        return read
    return msgspec.structs.replace(read, observations=tuple(_named(seen, found) for seen in read.observations))


def _named(seen: Observation, found: dict[int, str]) -> Observation:
    event = found.get(seen.span.line)
    if event is None or not _is_exception(seen):
        return seen
    said = {"event": event, "origin": "launcher", "kind": "cause", "fields": {}}
    return msgspec.structs.replace(seen, fields=seen.fields | said)


def _is_exception(seen: Observation) -> bool:
    return seen.entity == "Event" and seen.fields.get("event") == _EXCEPTION


def _faults(section: Section) -> Iterator[tuple[int, str]]:
    """The lines of such exceptions below frames that go with them, and their events."""
    shown: set[str] = set()
    for index, line in enumerate(section.lines):
        if _HEADER in line:
            shown.clear()
            continue
        text = _context.split(line)[1].strip()
        fault = next((each for each in _FAULTS if each.exception.match(text)), None)
        if fault is None:
            shown.update(each.event for each in _FAULTS if each.event not in shown and each.frames.search(line))
        elif fault.event in shown:
            yield index, fault.event
