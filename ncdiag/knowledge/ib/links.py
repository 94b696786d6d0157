"""Links of RDMA ports: lost, slow or with errors, and perftest's measurements of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_for, derived_of
from ncdiag.facts.model import Difference, Event, Host, Job, LinkTest, Port, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import carried_gbs
from ncdiag.facts.vocabulary.comparisons import subject
from ncdiag.facts.vocabulary.gpus import SIBLINGS
from ncdiag.facts.vocabulary.hosts import shows_kernel_log
from ncdiag.facts.vocabulary.link_tests import hosts_of_test, measured_bandwidth
from ncdiag.facts.vocabulary.rdma import active_ports, failed_over_verbs, is_active, raised_counters
from ncdiag.facts.vocabulary.troubled_hosts import troubled_hosts
from ncdiag.knowledge.ib.probe_rails import rates_of_both
from ncdiag.messages.vocabulary.rails import is_never_acknowledged
from ncdiag.messages.vocabulary.reasons import reason

_LOSS = (
    "local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err", "rnr_nak_retry_err",
    "req_transport_retries_exceeded", "roce_slow_restart", "to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded",
)  # fmt: skip
"""Counters of mlx5, and from ``to_retransmits`` on those of bnxt_re."""
_LINK_ERRORS = ("link_downed", "link_error_recovery", "local_link_integrity_errors")


def _counters_of(port: Port, view: View) -> dict[str, int]:
    """The counters of the port, including those that a tool printed for its LID."""
    host = view.host(port.host)
    by_lid = (host.lid_counters or {}).get(f"{port.lid}/{port.number}", {}) if host is not None else {}
    if by_lid and host is not None:
        view.note(host, "lid_counters")
    return {**by_lid, **(port.counters or {})}


@derived
def loss_counters(port: Port, view: View) -> str | None:
    """Counters of lost or late packets that are not 0: ``local_ack_timeout_err 9``."""
    return raised_counters(_counters_of(port, view), _LOSS)


@derived
def link_counters(port: Port, view: View) -> str | None:
    """Counters of link faults that are not 0, ``link_downed 3``, and mlxlink's recommendation."""
    raised = raised_counters(_counters_of(port, view), _LINK_ERRORS)
    if port.link_advice and is_active(port, view) is not False:
        view.note(port, "link_advice")
        return ", ".join(filter(None, (raised, f"mlxlink: {port.link_advice}")))
    return raised if port.link_advice is None else raised or ""


_PER_GPU = frozenset({8, 16})
"""The number of ports of a machine with eight GPUs that has one or two ports for each GPU, and no others."""


def _is_slower_than_elsewhere(port: Port, view: View) -> bool:
    """Is the port on a host that the trouble follows, and slower there than on each other host that has it?"""
    troubled = troubled_hosts(view)
    if port.host not in troubled or port.rate_gbps is None:
        return False
    rates = view.remembered(("rates on hosts without trouble",), lambda: _rates_elsewhere(view.job, troubled))
    elsewhere = rates.get(_place(port), ())
    return bool(elsewhere) and all(rate is not None and port.rate_gbps < rate for rate in elsewhere)


def _rates_elsewhere(job: Job, troubled: Collection[str]) -> Mapping[tuple[object, ...], AbstractSet[float | None]]:
    """The rates of each port on the hosts that the trouble does not follow."""
    found: dict[tuple[object, ...], set[float | None]] = defaultdict(set)
    for host in job.hosts:
        if host.name not in troubled:
            for port in (port for hca in host.hcas for port in hca.ports):
                found[_place(port)].add(port.rate_gbps)
    return found


def _place(port: Port) -> tuple[object, ...]:
    return port.hca, port.number, port.link_layer


@derived
def is_slower_than_siblings(port: Port, view: View) -> bool | None:
    """Is this the only active port slower than all others of its model on this host?

    On a host that the trouble follows: is it slower than the port of this name on each other host? None when model or
    rates are not known, or when there are too few ports to compare. If no model is known, the ports of one driver count
    as one model, provided that there are one or two for each of eight GPUs.
    """
    if _is_slower_than_elsewhere(port, view):
        view.note(port)
        for fact in troubled_hosts(view)[port.host]:
            view.note(fact)
        return True
    host = view.host(port.host)
    model = {h.name: h.board_id or h.board for h in host.hcas} if host is not None else {}
    if host is not None and not any(model.values()) and len(active_ports(host, view)) in _PER_GPU:
        model = {name: name.rstrip("0123456789") for name in model}
    if host is None or port.state != "active" or not port.rate_gbps or not model.get(port.hca):
        return None
    equal = [p for p in active_ports(host, view) if model.get(p.hca) == model[port.hca] and p.rate_gbps]
    equal = [p for p in equal if p.link_layer == port.link_layer]
    rates = Counter(p.rate_gbps for p in equal)
    if len(equal) < SIBLINGS:
        return None
    if len(rates) != 2 or rates[port.rate_gbps] != 1:  # noqa: PLR2004
        return False
    view.note(port)
    return all(port.rate_gbps <= (rate or 0) for rate in rates)


_LANES = lazy_regex(r"\b(\d{1,2})X\b")
_USUAL_LANES = 4
_OF_FEW_LANES = frozenset({5.0, 14.0, 25.0, 28.0, 50.0})
"""Rates in Gbit/s of one or two lanes of SDR to HDR that neither four lanes have nor HDR100, NDR200 and XDR400."""


@derived
def lanes(port: Port, view: View) -> int | None:
    """The number of lanes that the port's link runs with; None where no tool printed it."""
    found = _LANES.search(port.active_width or port.rate_text or "")
    if found is None:
        return None
    view.note(port)
    return int(found[1])


@derived
def lacks_lanes(port: Port, view: View) -> bool | None:
    """Is this an active InfiniBand port with fewer lanes than it should have, as far as their number or its rate shows?

    One lane of four is always a fault. Two lanes are how HDR100 and NDR200 work: they are a fault where another port of
    the same lane speed has four. Ethernet ports have one or two lanes by design.
    """
    count = lanes(port, view)
    if port.link_layer == "Ethernet" or port.state not in {"active", None} or (count or 0) >= _USUAL_LANES:
        return False
    if count is None or port.link_layer is None:
        return has_rate_of_few_lanes(port, view) or None
    kind = (port.link_layer, _generation(port))
    return count == 1 or any(
        lanes(other, view) == _USUAL_LANES and (other.link_layer, _generation(other)) == kind
        for host in view.job.hosts
        for other in active_ports(host, view)
    )


@derived
def has_rate_of_few_lanes(port: Port, view: View) -> bool:
    """Is no number of lanes known of this active InfiniBand link, and its rate one that four lanes never have?"""
    if lanes(port, view) is not None or port.link_layer != "InfiniBand" or port.state != "active":
        return False
    view.note(port, "rate_gbps")
    return port.rate_gbps in _OF_FEW_LANES


def _generation(port: Port) -> str:
    """The speed of one lane as its tool printed it: ``HDR`` of ``100 Gb/sec (2X HDR)``."""
    return port.active_speed or (port.rate_text or "").rpartition(" ")[2]


@derived
def rate_of_all_lanes(port: Port, view: View) -> str:
    """The rate of the link with all four lanes, ``200``; empty where the rate was not shown."""
    count = lanes(port, view)
    return f"{port.rate_gbps / count * _USUAL_LANES:g}" if port.rate_gbps and count else ""


@derived_of("ib-async-event", "hca-link", "interface-link-down", "carrier-lost")
def is_link_loss(event: Event, view: View) -> bool:
    """Did the port of a network card lose its link, as the kernel, networkd or NCCL's asynchronous events report it?"""
    if event.event == "ib-async-event":
        return event.fields.get("what") == "port error"
    if event.event == "hca-link":
        return str(event.fields.get("link_state", "")).upper() == "DOWN"
    return event.event in {"interface-link-down", "carrier-lost"}


@derived
def lost_port(event: Event, view: View) -> str:
    """The port that lost its link, ``mlx5_2`` or ``ens1f0np0``; a general word where the line names none."""
    return str(event.fields.get("hca") or event.fields.get("interface") or "an RDMA port")


@derived
def names_alone_differ(difference: Difference, view: View) -> bool:
    """Do hosts list equally many devices without any common name, as pods with separate virtual functions do?"""
    lists = [names.split() for names in difference.groups]
    every = [name for names in lists for name in names]
    return len({len(names) for names in lists}) == 1 and len(set(every)) == len(every)


@derived
def is_other_order(difference: Difference, view: View) -> bool:
    """Do hosts list the same RDMA devices, in another order?"""
    if subject(difference, view) != "hca_list":
        return False
    lists = [tuple(names.split()) for names in difference.groups]
    return len(set(lists)) > 1 and len({frozenset(names) for names in lists}) == 1


@derived_of("ib-modify-qp-failed")
def lacks_path(event: Event, view: View) -> bool:
    """Did a queue pair find no path to its peer (errno 110), or fail without a reason in the line?

    The peer's address is given on the step to RTR; failures before or after it do not concern the path.
    """
    told = event.fields.get("errno") is not None or bool(event.fields.get("error"))
    towards = event.fields.get("next_state") in {None, "RTR"}
    return (not told and towards) or reason(event, view) == "timed-out"


@derived_of("ib-modify-qp-failed")
def refuses_settings(event: Event, view: View) -> bool:
    """Was a queue pair refused on a step that involves no address: to INIT or to RTS?

    INIT takes the port, the index of the partition key and access flags, RTS the timeout and the number of retries
    (NCCL v2.30.7-1 src/transport/net_ib/connect.cc, ncclIbQpInit and ncclIbQpRts); releases before 2.24 name no step.
    """
    return event.fields.get("next_state") in {"INIT", "RTS"}


_UNSEEN = 2
"""A number of cards for a job whose cards were not seen: few hosts with RDMA have one."""


@derived_of("ib-modify-qp-failed", "ib-completion-error")
def is_lost_across_rails(event: Event, view: View) -> bool:
    """Does a host lose its peer, with NCCL_CROSS_NIC=1, which connects cards of different rails?

    A host that is seen to have one card has no rails.
    """
    setting = view.setting(view.host(event.host) or view.job, "NCCL_CROSS_NIC")
    if setting is None or setting.text != "1" or not is_never_acknowledged(event, view):
        return False
    cards = [len(rank.net_devices) for rank in view.job.ranks if rank.net_devices]
    cards += [len(host.hcas) for host in view.job.hosts if host.hcas and is_closed(host, "hcas")]
    has_rails = max(cards, default=_UNSEEN) > 1
    if has_rails:
        view.note(setting)
    return has_rails


@derived
def link_losses(job: Job, view: View) -> tuple[Event, ...] | None:
    """The events that report a lost link.

    None without any, where RDMA failed and the kernel log of a host was not shown.
    """
    found = tuple(event for event in job.events if is_link_loss(event, view))
    if found or not failed_over_verbs(job, view):
        return found
    return () if all(shows_kernel_log(host, view) for host in job.hosts) else None


@derived
def promised_gbps(test: LinkTest, view: View) -> float | None:
    """The Gbit/s that the tested port, or the PCIe link of its card, allows this test; None where no rate is known."""
    rates = {rate for host in hosts_of_test(test, view) for rate in _rates(test, host, view)}
    if len(rates) != 1:
        return None
    both = rates_of_both(view.job, view).get(f"{test.host} {test.hca} {test.port} {test.remote_ip}")
    if both is not None:
        rates = {min(*rates, both)}
    ways = (2 if test.bidirectional else 1) * (2 if test.dual_port else 1)
    return rates.pop() * ways


@derived
def fraction_of_promised(test: LinkTest, view: View) -> float | None:
    """The result of the test divided by what sizes like its own reach on a healthy system."""
    found = measured_bandwidth(test)
    promised = promised_gbps(test, view)
    if found is None or not promised:
        return None
    view.note(test, "rows")
    return found[0] / (promised * found[1])


@derived
def promised_text(test: LinkTest, view: View) -> str:
    """The reached share of the rate in words: ``23% of the 400 Gbit/s``."""
    found, promised = measured_bandwidth(test), promised_gbps(test, view)
    return f"{found[0] / promised:.0%} of the {promised:.4g} Gbit/s" if found and promised else "an unknown share"


def _rates(test: LinkTest, host: Host, view: View) -> Iterator[float]:
    """The rate of the tested port in Gbit/s; where the port is not known, those of the card's active ports."""
    for hca in host.hcas:
        for port in hca.ports if hca.name == test.hca else ():
            wanted = port.number == test.port if test.port is not None else is_active(port, view) is not False
            if wanted and port.rate_gbps:
                view.note(port, "rate_gbps")
                yield carried_gbs(host, hca, port) * 8


@derived
def lacks_buffers(port: Port, view: View) -> bool | None:
    """Did packets arrive for which the receiver had no buffer posted (counter out_of_buffer)?"""
    count = (port.counters or {}).get("out_of_buffer")
    return None if count is None else count > 0


@derived_for("NCCL_IB_PCI_RELAXED_ORDERING")
def switches_relaxed_ordering_off(setting: Setting, view: View) -> bool | None:
    """Is NCCL_IB_PCI_RELAXED_ORDERING 0 on a virtual machine? None where it is not known whether it is one."""
    if setting.number != 0:
        return False
    told = {host.virtual_machine for host in view.job.hosts} - {None}
    return None if not told else True in told
