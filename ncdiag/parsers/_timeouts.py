"""The collectives that PyTorch's watchdogs and Gloo gave up (c10d/ProcessGroup*.cpp, 1.8 to 2.9): one from many lines.

A line tells what its release knows of the collective: ``WorkNCCL(OpType=ALLREDUCE, TensorShape=[1], Timeout(ms)=9)`` up
to 1.12, with SeqNum from 1.13 on, NumelIn and NumelOut from 2.1 on. Each field is read by itself, so that one that is
missing or new costs no other.
"""

from __future__ import annotations

from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, observe
from ncdiag.parsers import _context, _events

_FIELDS = {
    "sequence": lazy_regex(r"\bSeqNum ?= ?(\d{1,19})\b"),
    "operation": lazy_regex(r"\bOpType ?= ?(\w{1,60})"),
    "numel_in": lazy_regex(r"\bNumelIn ?= ?(\d{1,20})\b"),
    "numel_out": lazy_regex(r"\bNumelOut ?= ?(\d{1,20})\b"),
    "timeout_ms": lazy_regex(r"\bTimeout\(ms\) ?= ?(\d{1,18})\b"),
    "ran_ms": lazy_regex(r"\bran for (\d{1,18}) milliseconds"),
}
_STATE = ("last_enqueued", "last_completed")
_GAVE_UP = frozenset({"torch-watchdog-timeout", "torchcomms-timeout", "gloo-timeout"})
_FAILED = "torch-work-failed"
_SIGNALS = {"torch-dump-own": "own", "torch-dump-signal": "other"}
_FRAME = "torch-timeout-frame"


def work(text: str) -> dict[str, Any]:
    """What a line tells of its collective: the fields of a Timeout that it has, times in milliseconds."""
    found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
    told = {name: hit[1] for name, hit in found.items() if hit is not None}
    return {name: value if name == "operation" else int(value) for name, value in told.items()}


class Timeouts:
    """Gathers the timeouts of a section, with how far the process group had come where a later line tells."""

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self._section = section
        self._found: list[tuple[int, _context.Context, dict[str, Any]]] = []
        self._last: dict[tuple[int | None, object], int] = {}
        self._stack: tuple[int, _context.Context] | None = None

    def see(self, index: int, event: _events.Found, context: _context.Context) -> None:
        """Take an event that mentions a timeout."""
        told = event.fields
        state = {name: told[name] for name in _STATE if name in told}
        if event.event == _FRAME:
            self._stack = self._stack or (index, context)
        elif event.event in _GAVE_UP:
            fields = work(str(told.get("work", "")))
            plain = {name: told.get(name) for name in ("sequence", "timeout_ms")}
            self._add(index, context, {**plain, **fields, **state, "given_up": True})
        elif event.event == _FAILED:
            group = {"process_group": context.process_group}
            self._add(index, context, {"sequence": told.get("sequence"), **state, **group})
        elif event.event in _SIGNALS:
            by = told.get("peer_rank", -1)
            signalled = {"signal": _SIGNALS[event.event], "signalled_by": by if by >= 0 else None}
            self._add(index, context, {**state, **signalled})

    def _add(self, index: int, context: _context.Context, fields: dict[str, Any]) -> None:
        """A new record, or more of the one of the same rank and number."""
        known = {name: value for name, value in fields.items() if value is not None}
        place = context.rank, known.get("sequence", known.get("signal"))
        held = self._found[self._last[place]][2] if place in self._last else None
        if held is not None and all(held.get(name, value) == value for name, value in known.items()):
            held.update(known)
            return
        self._last[place] = len(self._found)
        at = _context.wall_of(self._section, index)
        self._found.append((index, context, known if at is None else {**known, "at": at}))

    def observations(self) -> list[Observation]:
        """One Timeout for each collective of a rank, in order; one for a stack where no line tells of any."""
        if self._stack is not None and not self._found:
            self._found.append((*self._stack, {"only_stack": True}))
        return [
            observe(self._section, i, "Timeout", rank=context.rank, group_rank=context.group_rank, **fields)
            for i, context, fields in self._found
        ]
