"""What shows that a fault of a host or its network has passed: a later line about the same link, device or container.

Each entry has the message of a fault and those that the program prints when it works again. Such a message counts if it
comes later, from the same host, and is about the same device. If the fault returns, its new line is judged by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import FAILURES, Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary import pod_rows
from ncdiag.facts.vocabulary.failures import at_device
from ncdiag.facts.vocabulary.second_tries import FETCHED, LAUNCHED, LOGGED_IN, proves

_GIVES_UP = 60.0
"""Seconds after a link came back in which a transfer that waited for it may still fail."""
_LINKS = frozenset({"interface-link-down", "carrier-lost"})
_TRANSFER = "ib-completion-error"
_DEVICE, _POD, _BOND = "device", "pod", "master"
"""What both lines are about: the PCI address or the pod, which are no fields of messages; the field of a bond."""
_NO_PARTNER = "00:00:00:00:00:00"


class _Recovery(NamedTuple):
    """The messages that show it, and what has to be the same in both lines: a field, the device, or nothing.

    ``after``: seconds by the kernel's clock before which the later line proves nothing. ``but``: words of lines of the
    fault that it proves nothing about. ``unharmed``: words of those that it proves something about only if the job is
    not known to have failed or to hang.
    """

    by: tuple[str, ...]
    same: str = ""
    after: float = 0.0
    but: str = ""
    unharmed: str = ""


_POD_RUNS = _Recovery(("k8s-container-started",), _POD)
_PROBE = "k8s-probe-killed"
_RECOVERIES = {
    "interface-link-down": _Recovery(("interface-link-up",), "interface"),
    "carrier-lost": _Recovery(("carrier-gained",), "interface"),
    "rendezvous-unanswered": _Recovery(("rendezvous-answered",)),
    "ipoib-join-failed": _Recovery(("interface-link-up", "carrier-gained"), "interface"),
    "port-not-authenticated": _Recovery(("port-authenticated",), "interface"),
    "mlx5-power": _Recovery(("mlx5-power-enough",), _DEVICE),
    "nic-firmware-fault": _Recovery(("nic-reset-done",), _DEVICE),
    # a discovery that finds a node twice is repeated, one that finds a port twice (ERR 0D15) goes on
    "ib-guid-duplicate": _Recovery(("ib-subnet-up",), but="0D15"),
    "fabric-manager-config-invalid": _Recovery(("fabric-manager-ready",)),
    "imex-no-own-address": _Recovery(("imex-own-address",)),
    "vgpu-license-missing": _Recovery(("vgpu-license-acquired",)),
    "google-receiver-unreached": _Recovery(("google-receiver-ready",)),
    "container-image-not-fetched": _Recovery((FETCHED, LOGGED_IN)),
    "container-gave-up": _Recovery((FETCHED,)),
    # a bond that chose a member without a partner has a carrier at once; one that waited has it because of an answer
    "bond-no-lacp": _Recovery(("bond-up",), _BOND, after=0.5),
    "storage-server-lost": _Recovery(("storage-server-back",), "file_service", unharmed="evicted"),
    "slurm-script-failed": _Recovery((LAUNCHED,)),
    _PROBE: _POD_RUNS, "pod-unschedulable": _POD_RUNS, "pod-rejected": _POD_RUNS, "pod-device-unavailable": _POD_RUNS,
    "k8s-image-not-pulled": _POD_RUNS, "k8s-volume-not-mounted": _POD_RUNS, "k8s-network-not-attached": _POD_RUNS,
    "k8s-container-not-created": _POD_RUNS, "k8s-devices-not-prepared": _POD_RUNS,
}  # fmt: skip
_LIVES_ON = frozenset({"slow", "wrong-results"})
"""Complaints about a job that runs."""
_HOUR = 3600
_UPTIME = lazy_regex(r"\[ {0,12}(\d{1,10}\.\d{1,9})\]")
_START_UP = 120
"""Seconds after the start of a kernel in which no job of several ranks runs yet: services start, links come up."""
_MOMENTS = frozenset({"transmit-timeout", "conntrack-full", "neighbour-table-full", "listen-queue-full"})
"""Faults of a moment. Others of the start-up, such as too little power of a slot, last."""


def has_recovered(event: Event, view: View) -> bool:
    """Did the lost link come back, the missing peer, or what else had failed?

    A link that came back proves nothing if a transfer failed in the meantime; a line without a time may be such a one.
    """
    recovery = _RECOVERIES.get(event.event)
    if recovery is None:
        return False
    if recovery.same == _BOND and (partner := _partner(event, view)) is not None:
        return partner != _NO_PARTNER
    if event.event == _PROBE and (pod_rows.age(event) or 0) < _HOUR:
        return False  # the kubelet starts the container again at once, and may end it again
    failed = view.job.events if event.event in _LINKS and _TRANSFER in view.event_names() else ()
    if any(e.event == _TRANSFER and e.time is None for e in failed):
        return False
    ups = [later for later in view.events_on(event.host, recovery.by) if _ends(event, later, recovery, view)]
    return any(not any(_falls_between(event, e, later) for e in failed if e.event == _TRANSFER) for later in ups)


def _ends(event: Event, later: Event, recovery: _Recovery, view: View) -> bool:
    """Does the later line show that what this one reports has passed?"""
    if recovery.same == _POD:
        return pod_rows.are_of_one_pod(event, later) and pod_rows.is_after(later, event)
    if later.order <= event.order or _is_at_once(event, later, recovery):
        return False
    if _is_exempt(event, recovery, view) or not proves(later, event, view):
        return False
    if recovery.same == _DEVICE:
        return at_device(event, view) == at_device(later, view)
    return event.fields.get(recovery.same) == later.fields.get(recovery.same)


def _is_exempt(event: Event, recovery: _Recovery, view: View) -> bool:
    """Is it a line of the fault about which the later one proves nothing?"""
    if recovery.but and recovery.but in event.text:
        return True
    return bool(recovery.unharmed) and recovery.unharmed in event.text and _is_harmed(event, view)


def _is_harmed(event: Event, view: View) -> bool:
    """Does somebody say that the job failed or stands still, or does another line report a failure?"""
    if any(complaint.what not in _LIVES_ON for complaint in view.job.complaints):
        return True
    return any(other.kind in FAILURES and other.event != event.event for other in view.job.events)


def _is_at_once(event: Event, later: Event, recovery: _Recovery) -> bool:
    """Is the later line so soon after the fault that it belongs to the fault?"""
    began, came = _uptime(event), _uptime(later)
    return began is not None and came is not None and came - began < recovery.after


def _partner(event: Event, view: View) -> str | None:
    """The MAC address of the LACP partner of the bond, as /proc/net/bonding shows it; None if the input lacks it."""
    hosts = [host for host in view.job.hosts if event.host in {None, host.name}]
    bonds = [bond for host in hosts for bond in host.interfaces or () if bond.name == event.fields.get(_BOND)]
    return next((bond.lacp_partner for bond in bonds if bond.lacp_partner), None)


def _falls_between(down: Event, failure: Event, up: Event) -> bool:
    """Did it fail while the link was down, or soon after: what waited for the link gives up then?"""
    if down.time is None or failure.time is None or up.time is None:
        return False
    return down.time <= failure.time <= up.time + _GIVES_UP


def is_of_start_up(event: Event) -> bool:
    """Is it a fault of a moment that the kernel printed so soon after its own start that no job ran yet?"""
    uptime = _uptime(event) if event.event in _MOMENTS else None
    return uptime is not None and uptime < _START_UP


def _uptime(event: Event) -> float | None:
    """The seconds since the start of the kernel at the head of its line; None without them."""
    span = event.provenance.get("")
    found = _UPTIME.search(span.text or "") if span is not None else None
    return float(found[1]) if found is not None else None
