"""Which way to the GPUs or RDMA devices is closed: what works in one place and fails in another names the layer."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Access, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import listed

_PAIRS = {"container": ("host", "root"), "job": ("host", ""), "user": ("root",)}
"""Who may be shut out, and the places that show that the device itself works."""


@derived
def nvidia_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the NVIDIA GPUs although others can: `programs`, `container`, `job`, `user`; or the `host` itself.

    `programs`: nvidia-smi works in the same place. `container`: it works on the host. `job`: outside of the scheduler's
    job. `user`: as root. Empty if nothing says so.
    """
    return tuple(closed(job, view, "nvidia-smi", "cuda"))


def closed(job: Job, view: View, query: str, use: str) -> Iterator[str]:
    """Who is shut out, for the tool that queries the driver and the one that uses the device."""
    tools = {query, use} | ({"program"} if any(a.tool in {query, use} for a in job.accesses) else set())
    mine = [a for a in job.accesses if a.tool in tools]
    worked = [a for a in mine if a.works]
    failed = [a for a in mine if not a.works and not any(_same(a, b) for b in worked)]
    if query != use and _programs(job, view, query, worked, failed):
        yield "programs"
    for who, others in _PAIRS.items():
        shut = next((a for a in failed if a.place == who), None)
        free = next((a for a in worked if a.place in others), None)
        if shut is not None and free is not None:
            view.note(shut)
            view.note(free)
            yield who
    broken = next((a for a in failed if a.tool == query and a.place in {"host", "root"}), None)
    if broken is not None and query != use and not any(a.tool != "program" for a in worked):
        view.note(broken)
        yield "host"


def _same(a: Access, b: Access) -> bool:
    return (a.tool, a.place) == (b.tool, b.place)


def _programs(job: Job, view: View, query: str, worked: list[Access], failed: list[Access]) -> bool:
    """Does the query work where a program fails: in the same place, or in one that is not named?"""
    asked = [a for a in worked if a.tool == query]
    for broken in (a for a in failed if a.tool != query):
        for free in asked:
            if free.place == broken.place or (not free.place and broken.place == "container" and not _on_host(asked)):
                view.note(free)
                view.note(broken)
                return True
    if query == "nvidia-smi" and not asked and not any(a.tool == query for a in failed):
        shut = next((a for a in failed if a.place != "host"), None)
        shown = next((gpus[0] for host in job.hosts if (gpus := listed(host))), None)
        if shut is not None and shown is not None:
            view.note(shown)
            view.note(shut)
            return True
    return False


def _on_host(asked: list[Access]) -> bool:
    return bool(asked) and all(a.place == "host" for a in asked)
