"""The event of a full table of tracked connections, from the numbers that the kernel gives about it."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.facts.vocabulary.hosts import TRACKED_COUNT, TRACKED_LIMIT
from ncdiag.parsers._rows import Reading

_SHORT = "net.nf_conntrack_max"
"""Another name of the limit (net/netfilter/nf_conntrack_standalone.c)."""
_FULL = 0.99
"""The share of the limit from which the kernel drops packets: entries expire while somebody reads the number."""


def report_full(reading: Reading, values: Mapping[str, str], at: int) -> None:
    """Add the event if as many connections are tracked as the limit allows."""
    count, limit = values.get(TRACKED_COUNT, ""), values.get(TRACKED_LIMIT) or values.get(_SHORT, "")
    if count.isdecimal() and limit.isdecimal() and 0 < int(limit) * _FULL <= int(count):
        section = reading.section
        reading.observe(
            "Event", at=at, event="conntrack-full", origin="kernel", kind="cause", text=section.lines[at].strip(),
            order=section.number(at), count=1,
        )  # fmt: skip
