"""The traffic class of RoCE packets."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_ASK = "mlnx_qos -i <interface> (on every host)"
_CODES = 8
"""Number of DSCP codes for each priority in the default map of the cards: 24 to 31 belong to priority 3."""
_USUAL = 2
"""The code within its priority that vendors' guides use: 26 of 24 to 31."""


@best
def traffic_class(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For NCCL_IB_TC: four times a DSCP that every card maps to its only priority with flow control."""
    shown = [i for host in view.job.hosts for i in host.interfaces if i.pfc is not None]
    lossless = [interface for interface in shown if interface.trust == "dscp" and interface.pfc]
    priorities = {priority for interface in lossless for priority in interface.pfc or ()}
    if not lossless or len(lossless) < len(shown):
        return Value(reason="no card was seen that trusts DSCP and has flow control for a priority", ask_for=(_ASK,))
    if len(priorities) > 1 or any(interface.dscp_default is not True for interface in lossless):
        reason = "the map from DSCP to the priority with flow control is not one for all cards"
        return Value(reason=reason, ask_for=(_ASK,))
    priority = priorities.pop()
    code = priority * _CODES + _USUAL
    spans = tuple(dict.fromkeys(s for i in lossless if (s := i.provenance.get("pfc") or i.provenance.get(""))))
    reason = f"the cards map DSCP {code} to priority {priority}, which has flow control; the switches must do the same"
    return Value(text=str(4 * code), reason=reason, spans=spans)
