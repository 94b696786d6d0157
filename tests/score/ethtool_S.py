"""The truths of `ethtool -S` outputs, from the merged facts."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.facts.model import Job

_FAULT = re.compile(r"err|drop|discard|jabber|crc|align|too_long|fragment")


def truths(job: Job) -> dict[str, Any]:
    """``sample`` is the first eight counters."""
    found = [host.unnamed_nic_counters for host in job.hosts if host.unnamed_nic_counters]
    found += [i.counters for host in job.hosts for i in host.interfaces if i.counters]
    if len(found) != 1:
        return {}
    counters = found[0]
    return {
        "nstats": len(counters),
        "sample": dict(list(counters.items())[:8]),
        "nonzero_errors": {name: value for name, value in counters.items() if value and _FAULT.search(name)},
    }
