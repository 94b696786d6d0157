"""Processors that sleep deeply, beside the time that small messages were measured to take.

A sleeping processor wakes up before it looks at what came in; how long that takes the kernel tells for each state
(Documentation/admin-guide/pm/cpuidle.rst). That matters to programs that sleep while they wait, not to those that spin,
so it counts only where small messages are slow.
"""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.view import View, derived

_DEEP_US = 10
"""Microseconds above which a state is no light sleep: C1 takes 1 or 2, C6 more than 100."""
_SLOW_US = 9.0
"""Microseconds that a small RDMA message takes at most on any healthy machine of the providers' own checks."""


@derived
def deep_sleep(host: Host, view: View) -> str | None:
    """``C6 (290 us)``: states that are entered and take long to leave; empty for none, None when not told."""
    if host.idle_states is None:
        return None
    view.note(host, "idle_states")
    deep = [s for s in host.idle_states if (s.latency_us or 0) > _DEEP_US and not s.disabled and s.used is not False]
    return ", ".join(f"{state.name} ({state.latency_us} us)" for state in deep)


@derived
def small_message_us(host: Host, view: View) -> float | None:
    """Microseconds of a small message by the slowest latency test of this host; None without one."""
    tests = (test for test in view.job.link_tests if test.host == host.name or (test.host is None and _is_alone(view)))
    return max((latency for test in tests if (latency := view.get(test, "small_latency_us")) is not None), default=None)


@derived
def has_slow_small_messages(host: Host, view: View) -> bool | None:
    """Do small RDMA messages take longer than on any healthy machine?"""
    latency = view.get(host, "small_message_us")
    return None if latency is None else bool(latency > _SLOW_US)


def _is_alone(view: View) -> bool:
    return len(view.job.hosts) == 1
