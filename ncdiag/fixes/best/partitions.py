"""The partition key that all hosts share."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.partitions import FULL, infiniband_ports, key_at
from ncdiag.fixes.values import Bindings, Value, best

_ASK = "grep -H . /sys/class/infiniband/*/ports/*/pkeys/* (on every host)"


@best
def pkey_index(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For NCCL_IB_PKEY: the lowest index at which every InfiniBand port is a full member of the same partition."""
    ports = [port for host in view.job.hosts for port in infiniband_ports(host, view) if port.pkeys is not None]
    if not ports:
        return Value(reason="no partition table of an InfiniBand port was seen", ask_for=(_ASK,))
    for index in range(max(len(port.pkeys or ()) for port in ports)):
        keys = {key_at(port, index) for port in ports}
        if len(keys) == 1 and (key := keys.pop()) & FULL:
            spans = (port.provenance.get("pkeys") for port in ports[:4])
            reason = f"entry {index} is {key:#06x}, a full member, on every InfiniBand port seen"
            return Value(text=str(index), reason=reason, spans=tuple(dict.fromkeys(span for span in spans if span)))
    tables = dict.fromkeys(f"{port.host} {port.hca}: {' '.join(port.pkeys or ())}" for port in ports)
    reason = f"no index holds one full member key on all ports ({'; '.join(list(tables)[:4])})"
    return Value(reason=reason, ask_for=(_ASK,))
