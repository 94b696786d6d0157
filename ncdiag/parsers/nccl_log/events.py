"""The events of a log: equal ones are counted, and only so many different ones of one name are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.parsers.nccl_log.packed import packed, unpacked
from ncdiag.parsers.nccl_log.prefix import Prefix
from ncdiag.parsers.nccl_log.ranks import Key
from ncdiag.parsers.nccl_log.reading import Told

KEPT = {"harmless": 500, "fact": 2000}
"""Different events of one name that are kept, by kind; memory must not grow with the log."""
KEPT_OTHERWISE = 5000
ONCE = "ring-order"
"""An event that is told once for all channels that have the same order, and is not counted."""


class Events:
    """Events in the order in which they first appeared."""

    def __init__(self) -> None:
        """Start empty."""
        self._first: dict[tuple[Any, ...], tuple[Key, Told, str, str, Prefix, Span]] = {}
        self._counts: Counter[tuple[Any, ...]] = Counter()
        self._kept: Counter[str] = Counter()
        self._over: Counter[str] = Counter()

    def __getstate__(self) -> dict[str, Any]:
        """What goes from one process to another."""
        told = {place: (first, self._counts[place]) for place, first in self._first.items()}
        return {"told": packed(told), "_kept": self._kept, "_over": self._over}

    def __setstate__(self, state: dict[str, Any]) -> None:
        told: dict[tuple[Any, ...], Any] = unpacked(state["told"])
        self._first = {place: first for place, (first, _) in told.items()}
        self._counts = Counter({place: count for place, (_, count) in told.items()})
        self._kept, self._over = state["_kept"], state["_over"]

    def add(self, key: Key, told: Told, text: str, *, level: str, prefix: Prefix, span: Span) -> None:  # noqa: PLR0913
        """Take one event; over the limit it is only counted under its name."""
        same = text.partition(" : ")[2] if told.event == ONCE else text
        self._add((told.event, *key[:2], same), (key, told, text, level, prefix, span), 1)

    def merge(self, later: Events) -> None:
        """Add the events of a later part of the log."""
        for place, first in later._first.items():
            self._add(place, first, later._counts[place])
        self._over.update(later._over)

    def _add(self, place: tuple[Any, ...], first: tuple[Key, Told, str, str, Prefix, Span], count: int) -> None:
        if place not in self._first:
            name = first[1].event
            if self._kept[name] >= KEPT.get(first[1].kind or "", KEPT_OTHERWISE):
                self._over[name] += count
                return
            self._first[place] = first
            self._kept[name] += 1
        elif place[0] == ONCE:
            return
        self._counts[place] += count

    def unknown_lines(self) -> list[int]:
        """Line numbers of the warnings that no message of the catalogue fits."""
        return [span.line for _, told, _, _, _, span in self._first.values() if told.event == "unknown-warn"]

    def observations(self, rank_of: Callable[[Key], int | None]) -> Iterator[Observation]:
        """One observation for each event kept; what was over the limit is counted to the last one of its name."""
        counts = self._counts.copy()
        for name, last in {place[0]: place for place in self._first}.items():
            counts[last] += self._over[name]
        for place, (key, told, text, level, prefix, span) in self._first.items():
            fields: dict[str, Any] = {
                "event": told.event, "origin": told.origin, "level": level, "kind": told.kind, "text": text,
                "time": prefix.time, "order": span.line, "rank": rank_of(key), "pid": key[1],
                "peer": _host_part(told.fields.get("peer")),
                "file": prefix.file or told.fields.get("source_file"),
                "line": prefix.line or told.fields.get("source_line"),
                "count": counts[place], "fields": told.fields,
            }  # fmt: skip
            fields = {name: value for name, value in fields.items() if value is not None}
            yield Observation(entity="Event", host=key[0], span=span, fields=fields, standing="process")


_PORT = 5
"""Digits of a port that no group of an IPv6 address has."""


def _host_part(peer: object) -> str | None:
    """``10.0.0.1<45678>`` or ``10.0.0.1:45678`` without the TCP port; few digits behind an IPv6 address are its own."""
    if not isinstance(peer, str):
        return None
    host = peer.split("<", 1)[0]
    before, _, port = peer.rpartition(":")
    in_six = ":" in before and "]" not in before and len(port) < _PORT
    return host if host != peer or in_six or not port.isdecimal() else before
