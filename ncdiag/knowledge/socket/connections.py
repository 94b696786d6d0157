"""Connections that get no answer or a wrong one: packet filters, and processes that do not belong to the job."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Difference, Event, Host, Job
from ncdiag.facts.scalars import in_network
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED, peer_ip
from ncdiag.facts.vocabulary.comparisons import subject
from ncdiag.facts.vocabulary.hosts import TRACKED_COUNT, TRACKED_LIMIT, sysctl
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.reasons import error_name


@derived_of("socket-wrong-type", "message-truncated", "bootstrap-message-truncated", "socket-wrong-magic")
def is_stranger(event: Event, view: View) -> bool:
    """Did a message arrive that is not from a peer: of the wrong size, kind or magic (kinds: src/include/socket.h)?"""
    if event.event == "socket-wrong-type":
        return {event.fields.get("peer_type"), event.fields.get("expected_type")} != {3, 4}
    return True


_NO_ANSWER = frozenset({"ETIMEDOUT", "EHOSTUNREACH", "EHOSTDOWN", "ECONNABORTED", "EPERM"})
"""The kernel's errors where packets were dropped or a filter answered; "refused" may also mean a dead process."""


@derived
def dropping_hosts(job: Job, view: View) -> tuple[Host, ...] | None:
    """The hosts whose packet filter drops incoming packets; None when no filter was shown."""
    shown = [host for host in job.hosts if host.input_policy is not None or host.input_drops is not None]
    return tuple(h for h in shown if h.input_policy == "drop" or h.input_drops) if shown else None


@derived
def is_unanswered_at_home(event: Event, view: View) -> bool:
    """Did a connection get no answer in a job on one host?"""
    return error_name(event, view) in _NO_ANSWER and is_multi_host(view.job, view) is False


_OF_SOCKETS = frozenset({
    "socket-closed-by-peer", "socket-call-failed", "socket-connect-failed", "socket-connect-exhausted",
    "socket-connect-retry", "socket-transfer-failed", "error-return",
})  # fmt: skip


@derived_of("socket-closed-by-peer", "socket-call-failed", "socket-connect-failed")
def is_cut_from_itself(event: Event, view: View) -> bool | None:
    """Was a connection of a job of one process broken or refused, although nothing in it failed before?

    Its threads talk to each other over TCP: no other process can end it. None where the number of ranks is not known.
    """
    if event.event == "socket-connect-failed" and error_name(event, view) not in _BROKEN:
        return False
    alone = _is_one_process(view.job)
    if not alone or any(run.average_busbw is not None for run in view.job.benchmarks):
        return None if alone is None else False
    before = [e for e in view.job.events if e.order < event.order]
    ended = any(e.event in _ENDINGS for e in before)
    return not ended and all(e.event in _OF_SOCKETS for e in before if is_open_failure(e, view))


_BROKEN = frozenset({"ECONNREFUSED", "ECONNRESET"})
"""Errors of a connection that something answered; `_NO_ANSWER` is what packet filters and addresses cause."""
_ENDINGS = frozenset({"comm-ended", "program-finished"})


def _is_one_process(job: Job) -> bool | None:
    """Does one process hold all ranks? None where their number is not known. A benchmark's header has their product."""
    runs = job.benchmarks
    if job.nranks == 1 or (runs and all(r.nranks == (r.nthreads or 1) * (r.gpus_per_process or 0) for r in runs)):
        return True
    pids = {(rank.host, rank.pid) for rank in job.ranks}
    if job.nranks is None or len(job.ranks) < job.nranks or any(rank.pid is None for rank in job.ranks):
        return None if job.nranks is None else False
    return len(pids) == 1


@derived_of("socket-connect-failed", "socket-connect-exhausted", "c10d-connect-failed")
def is_rejected(event: Event, view: View) -> bool:
    """Did something answer that the address cannot be reached, as a filter that rejects does?

    To the store of the ranks it counts where the filter of the host that the message names was shown.
    """
    if error_name(event, view) != "EHOSTUNREACH":
        return False
    return event.event not in STORE_UNREACHED or any(_is_called(host, event, view) for host in view.job.hosts)


@derived
def filtering_host(event: Event, view: View) -> str | None:
    """The host whose packet filter drops the connection; empty for none, None when no packet filter was shown."""
    if error_name(event, view) not in _NO_ANSWER:
        return ""
    dropping = dropping_hosts(view.job, view)
    if dropping is None:
        return None
    for host in dropping:
        own = {address.ip: interface.name for interface in host.interfaces for address in interface.addresses or ()}
        peer = peer_ip(event, view)
        called = _is_called(host, event, view) if event.event in STORE_UNREACHED else not own or peer in own
        if called and not _lets_in(host, own.get(peer or ""), event, view):
            view.note(host, "input_policy" if host.input_policy else "input_drops")
            return host.name
    return ""


def _is_called(host: Host, event: Event, view: View) -> bool:
    """Does the message name this host, by its name or by an address of its interfaces?"""
    peer = peer_ip(event, view)
    if peer is not None:
        return any(address.ip == peer for interface in host.interfaces for address in interface.addresses or ())
    return bool(event.peer) and str(event.peer).partition(".")[0] == host.name


def _admits(ports: tuple[str, ...], event: Event) -> bool:
    """Is the port that was called one of those (``29500``, ``6000-6100``)? Never for a port that the kernel chose."""
    port = event.fields.get("port")
    if event.event not in STORE_UNREACHED or not isinstance(port, int):
        return False
    ranges = (text.partition("-") for text in ports)
    return any(int(low) <= port <= int(high or low) for low, _, high in ranges)


def _lets_in(host: Host, interface: str | None, event: Event, view: View) -> bool:
    """Does the filter allow the interface, or a network of the connecting host?

    Where that host's addresses are not known, the network of the target address is used instead.
    """
    if _admits(host.input_ports or (), event):
        return True
    allowed = host.input_allows or ()
    other = view.host(event.host)
    theirs = {a.ip for i in (other.interfaces if other is not None else ()) for a in i.addresses or ()}
    peer = peer_ip(event, view)
    from_here = theirs or ({peer} if peer else set())
    return interface in allowed or any(in_network(ip, network) for ip in from_here for network in allowed)


_HEADERS = 28
"""Bytes of the headers of IPv4 and ICMP."""
_PLAIN_PACKET = 1472
"""Bytes of data in a packet of standard Ethernet, without the headers of IPv4 and ICMP."""


@derived
def loses_large_packets(difference: Difference, view: View) -> bool | None:
    """Was a packet lost that fits the larger MTU of this difference and not the smaller? None where none was sent."""
    sizes = [int(value) for value in difference.groups if value.isdecimal()]
    if subject(difference, view) != "interface_mtu" or not sizes:
        return False
    tried = [
        event for event in view.job.events
        if event.event == "ping-tried" and min(sizes) - _HEADERS < int(event.fields.get("size") or 0) <= max(sizes)
    ]  # fmt: skip
    for event in tried:
        if not event.fields.get("received"):
            view.note(event)
            return True
    return False if tried else None


@derived_of("ping-tried")
def is_too_large_for_path(event: Event, view: View) -> bool | None:
    """Are packets of this size lost while small ones arrive on the path, or does a router say so?

    None where no smaller packet was sent to that address, which may not be reachable at all. Of the sizes of plain
    Ethernet, loss alone counts: a router that says so makes TCP send less (RFC 1191), and tunnels are like that.
    """
    size, address = event.fields.get("size"), event.fields.get("address")
    if not isinstance(size, int) or event.fields.get("received"):
        return False
    is_plain = size <= _PLAIN_PACKET
    if event.fields.get("path_mtu") is not None:
        return not is_plain
    for other in view.events_on(event.host, ["ping-tried"]):
        smaller = other.fields.get("size")
        if other.fields.get("address") == address and isinstance(smaller, int) and smaller < size:
            view.note(other)
            return bool(other.fields.get("received"))
    return False if is_plain else None


_ROOM = 0.8
"""A table is far from full if it has at most this share of the entries that it may have."""


@derived
def tracks_few(host: Host, view: View) -> bool:
    """Do the kernel's counters show that the host tracks far fewer connections than it may?"""
    count, limit = (sysctl(host, name) or "" for name in (TRACKED_COUNT, TRACKED_LIMIT))
    if not count.isdecimal() or not limit.isdecimal() or int(count) > int(limit) * _ROOM:
        return False
    view.note(host, "sysctls")
    return True


@derived
def tracked_connections_to_allow(event: Event, view: View) -> str:
    """Twice the limit of tracked connections of the host whose table is full; empty where it was not read."""
    host = view.host(event.host)
    hosts = [host] if host is not None else view.job.hosts if len(view.job.hosts) == 1 else ()
    for known in hosts:
        limit = sysctl(known, TRACKED_LIMIT) or ""
        if limit.isdecimal():
            view.note(known, "sysctls")
            return str(2 * int(limit))
    return ""
