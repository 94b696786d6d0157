"""Counters of ports and interfaces that are not 0, as text; they count since the driver was loaded.

The text is empty where all counters that were shown are 0, and None where none of them was shown.
"""

from __future__ import annotations

from ncdiag.facts.model import Port
from ncdiag.facts.view import View, derived

_LOSS = (
    "local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err", "rnr_nak_retry_err",
    "req_transport_retries_exceeded", "roce_slow_restart",
)  # fmt: skip
_LINK_ERRORS = ("link_downed", "link_error_recovery", "local_link_integrity_errors")


def raised_counters(counters: dict[str, int] | None, names: tuple[str, ...]) -> str | None:
    """``link_downed 3``: those of these names that are not 0."""
    shown = {name: value for name in names if (value := (counters or {}).get(name)) is not None}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value > 0) if shown else None


def _counters_of(port: Port, view: View) -> dict[str, int]:
    """Those of the port, and those that a tool printed for its LID."""
    host = view.host(port.host)
    by_lid = (host.lid_counters or {}).get(f"{port.lid}/{port.number}", {}) if host is not None else {}
    if by_lid and host is not None:
        view.note(host, "lid_counters")
    return {**by_lid, **(port.counters or {})}


@derived
def loss_counters(port: Port, view: View) -> str | None:
    """``local_ack_timeout_err 9``: what counts lost or late packets, where not 0."""
    return raised_counters(_counters_of(port, view), _LOSS)


@derived
def link_counters(port: Port, view: View) -> str | None:
    """``link_downed 3``: what counts faults of the link, where not 0, and what mlxlink advises."""
    raised = raised_counters(_counters_of(port, view), _LINK_ERRORS)
    if port.link_advice and view.get(port, "is_active") is not False:
        view.note(port, "link_advice")
        return ", ".join(filter(None, (raised, f"mlxlink: {port.link_advice}")))
    return raised if port.link_advice is None else raised or ""
