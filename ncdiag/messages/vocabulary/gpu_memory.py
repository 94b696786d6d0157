"""Which processes hold the memory of a GPU that ran out of it, as PyTorch reports it.

The sentences are those of c10/cuda/CUDACachingAllocator.cpp from 2.1 on: ``GPU 0 has a total capacity of 79.15 GiB of
which 26.00 MiB is free. Process 4101 has 474.00 MiB memory in use. ... this process has 60.02 GiB memory in use``.
"""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.nccl.vocabulary.relations.table import relations

_REPORTED = "cuda-out-of-memory"
_SIZE = r"(\d{1,15}(?:\.\d{1,3})? [KMG]iB)"
_CAPACITY = rf"total capac\w{{2,4}} of {_SIZE}"
_PROCESS = rf"(?:Process \d{{1,10}}|(this process)) has {_SIZE} memory in use"
_OWN = rf"{_SIZE} is (?:allocated|reserved) by PyTorch"
_ASKED = rf"Tried to allocate {_SIZE}"
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_GIB = _UNITS["GiB"]
_CONTEXT = 3 * _GIB // 2
"""Bytes that a process with only a CUDA context may hold, with the kernels of loaded libraries."""
_PART = 20
"""A rank holds at least this fraction (one in ``_PART``) of the bytes of its GPU."""


@derived_of(_REPORTED)
def is_held_by_ranks(event: Event, view: View) -> bool:
    """Do two other processes hold as much of the exhausted GPU as ranks do, not just a CUDA context?

    False where each is known to have another GPU of its own.
    """
    if any(relation.what == "contexts-on-gpu0" for relation in relations(view.job, view)):
        return False
    least = max(_CONTEXT, _capacity(event) // _PART)
    return sum(size > least for size in _others(event)) > 1


@derived
def held_by_others(event: Event, view: View) -> str:
    """What other processes hold of an exhausted GPU: ``; 7 other processes hold 3.2 of its 79.2 GiB``.

    Empty for none.
    """
    others = _others(event) if event.event == _REPORTED else []
    if not others:
        return ""
    pid = holder(event, view)
    one = f"process {pid} holds" if pid else "another process holds"
    who = one if len(others) == 1 else f"{len(others)} other processes hold"
    return f"; {who} {sum(others) / _GIB:.1f} of its {_capacity(event) / _GIB:.1f} GiB"


@derived
def holder(event: Event, view: View) -> str:
    """The number of the only other process on the exhausted GPU, unless it is known to be of this job; else empty.

    Where the process does not recognise itself, its container has numbers of its own, and those are the host's.
    """
    if event.event != _REPORTED or len(_others(event)) != 1 or "this process has" not in event.text:
        return ""
    number = re.search(r"Process (\d{1,10}) has", event.text)
    if number is None:
        return ""
    job = view.job
    own = {rank.pid for rank in job.ranks} | {e.pid for e in job.events} | {e.fields.get("pid") for e in job.events}
    return "" if int(number[1]) in own else number[1]


def is_held_by_pytorch(event: Event) -> bool:
    """Does PyTorch say that it holds more than half of the exhausted GPU, or asks for as much with what it holds?"""
    taken = sum(_bytes(size) for size in re.findall(_OWN, event.text))
    asked = re.search(_ASKED, event.text)
    return taken + (_bytes(asked[1]) if asked else 0) > _capacity(event) // 2 > 0


def _capacity(event: Event) -> int:
    """The memory of the GPU in bytes; 0 where the line does not show it."""
    found = re.search(_CAPACITY, event.text)
    return _bytes(found[1]) if found else 0


def _others(event: Event) -> list[int]:
    """The bytes that each other process holds.

    A value above the GPU's memory means that the driver did not know it (WSL).

    In a container with its own process numbers, the process does not recognise itself in the list: it is the entry with
    the amount that PyTorch reports for itself, else the largest.
    """
    told = [(bool(own), _bytes(size)) for own, size in re.findall(_PROCESS, event.text)]
    held = [(own, size) for own, size in told if size <= _capacity(event)]
    others = [size for own, size in held if not own]
    if others and not any(own for own, _ in told):
        taken = sum(_bytes(size) for size in re.findall(_OWN, event.text))
        others.remove(min((size for size in others if size >= taken > 0), default=max(others)))
    return others


def _bytes(size: str) -> int:
    number, unit = size.split()
    return int(float(number) * _UNITS[unit])
