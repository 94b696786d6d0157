"""Counters of ports and interfaces that are not 0, as text; they count since the driver was loaded."""

from __future__ import annotations

from ncdiag.facts.model import Interface, Port
from ncdiag.facts.view import View, derived

_LOSS = (
    "local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err", "rnr_nak_retry_err",
    "req_transport_retries_exceeded", "roce_slow_restart",
)  # fmt: skip
_DISCARDS = ("rx_discards_phy", "tx_discards_phy", "rx_crc_errors_phy", "rx_pcs_symbol_err_phy")
_STORMS = ("tx_pause_storm_warning_events", "tx_pause_storm_error_events")
_LINK_ERRORS = ("link_downed", "link_error_recovery", "local_link_integrity_errors")


def _raised(counters: dict[str, int] | None, names: tuple[str, ...]) -> dict[str, int]:
    return {name: value for name in names if (value := (counters or {}).get(name, 0)) > 0}


def _counters_of(port: Port, view: View) -> dict[str, int]:
    """Those of the port, and those that a tool printed for its LID."""
    host = view.host(port.host)
    by_lid = (host.lid_counters or {}).get(f"{port.lid}/{port.number}", {}) if host is not None else {}
    if by_lid and host is not None:
        view.note(host, "lid_counters")
    return {**by_lid, **(port.counters or {})}


def _told(counters: dict[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in counters.items())


@derived
def loss_counters(port: Port, view: View) -> str:
    """``local_ack_timeout_err 9``: what counts lost or late packets, where not 0."""
    return _told(_raised(_counters_of(port, view), _LOSS))


@derived
def link_counters(port: Port, view: View) -> str:
    """``link_downed 3``: what counts faults of the link, where not 0, and what mlxlink advises."""
    raised = _told(_raised(_counters_of(port, view), _LINK_ERRORS))
    if port.link_advice and view.get(port, "is_active") is not False:
        view.note(port, "link_advice")
        return ", ".join(filter(None, (raised, f"mlxlink: {port.link_advice}")))
    return raised


@derived
def discard_counters(interface: Interface, view: View) -> str:
    """Packets that the card dropped or received damaged, where not 0."""
    return _told(_raised(interface.counters, _DISCARDS))


@derived
def storm_counters(interface: Interface, view: View) -> str:
    """How often this host held its switch port for too long, where not 0."""
    return _told(_raised(interface.counters, _STORMS))
