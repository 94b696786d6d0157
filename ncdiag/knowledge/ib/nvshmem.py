"""RDMA devices that several processes of a host share because of how NVSHMEM assigns them.

Source: NVIDIA/nvshmem src/host/transport/transport.cpp (nvshmemi_setup_connections), src/host/topo/topo.cpp. The
number of a process counts within its NVSHMEM group: DeepEP's normal kernels have one group for each GPU index, with
one process on each host.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

_IN_TURN, _NEAREST = "nvshmem-nic-in-turn", "nvshmem-nic-nearest"


@derived
def shared_nics(job: Job, view: View) -> tuple[Event, ...]:
    """For each host and way of assignment, the first line of processes that share an RDMA device without need."""
    lines: dict[tuple[str, str | None], list[Event]] = defaultdict(list)
    for event in job.events:
        if event.event in {_IN_TURN, _NEAREST}:
            lines[event.event, event.host].append(event)
    found = [_all_in_one(events) if way == _IN_TURN else _left_idle(events) for (way, _), events in lines.items()]
    shared = tuple(event for event in found if event is not None)
    for event in shared:
        view.note(event)
    return shared


def _all_in_one(events: Sequence[Event]) -> Event | None:
    """The first line if at least two processes take one device; the lines come only where there are several."""
    by_process = {event.pid: event for event in events}
    devices = {event.fields.get("nic_number") for event in events}
    return next(iter(by_process.values())) if len(by_process) > 1 and len(devices) == 1 else None


def _left_idle(events: Sequence[Event]) -> Event | None:
    """The line of a process that takes the device of another one, though it is as near to one that nobody takes."""
    first = {event.pid: event for event in events if event.fields.get("nic_choice") == 0}
    taken = Counter(event.fields.get("nic_number") for event in first.values())
    idle = {event.pid for event in events if event.fields.get("nic_number") not in taken}
    shared = (event for event in first.values() if taken[event.fields.get("nic_number")] > 1)
    return next((event for event in shared if event.pid in idle), None)
