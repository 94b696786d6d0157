"""The limit of processor time of a container or control group, against what the job needs."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Launch
from ncdiag.facts.view import View
from ncdiag.knowledge.container.access import gpu_count

_MUCH = 0.25
"""The share of throttled periods above which a job is held back for as long as it runs; its start alone is less."""


@derived
def cpu_limit_binds(host: Host, view: View) -> bool | None:
    """Does the limit stop the processes again and again, or permit fewer processors than the host has GPUs?"""
    if host.cpu_throttled is not None:
        view.note(host, "cpu_throttled")
        return host.cpu_throttled >= _MUCH
    if host.cpu_limit is None or not host.gpus:
        return None
    view.note(host, "cpu_limit")
    return host.cpu_limit < len(host.gpus)


@derived
def throttled_percent(host: Host, view: View) -> int | None:
    """The share of the periods in which the control group of the job was stopped, in percent."""
    return None if host.cpu_throttled is None else round(100 * host.cpu_throttled)


@derived
def starves_its_gpus(launch: Launch, view: View) -> bool | None:
    """May the container use fewer processors than it has GPUs?"""
    count = gpu_count(launch, view)
    return None if launch.cpu_limit is None or count is None else launch.cpu_limit < count
