"""Report that the kernel's table of tracked connections is full, from its number of entries and its limit."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.facts.vocabulary.hosts import TRACKED_COUNT, TRACKED_LIMIT
from ncdiag.parsers._rows import Reading

_SHORT = "net.nf_conntrack_max"
"""Another name of the limit (net/netfilter/nf_conntrack_standalone.c)."""
_FULL = 0.99
"""The share of the limit from which the table counts as full, since entries expire while the number is read."""


def report_full(reading: Reading, values: Mapping[str, str], at: int) -> None:
    """Add the event ``conntrack-full`` if the kernel tracks as many connections as its limit allows."""
    count, limit = values.get(TRACKED_COUNT, ""), values.get(TRACKED_LIMIT) or values.get(_SHORT, "")
    if count.isdecimal() and limit.isdecimal() and 0 < int(limit) * _FULL <= int(count):
        section = reading.section
        reading.observe(
            "Event", at=at, event="conntrack-full", origin="kernel", kind="cause", text=section.lines[at].strip(),
            order=section.number(at), count=1,
        )  # fmt: skip
