"""What a pod asks for: the resource of the device plugin with which it gets RDMA devices.

Sources: k8s-rdma-shared-dev-plugin (``rdma/NAME``, many shares of the same devices), sriov-network-device-plugin (one
for each virtual function), aws-efa-k8s-device-plugin (``vpc.amazonaws.com/efa``, one for each adapter).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.fixes.values import Bindings, Value, best

_RDMA = lazy_regex(r"(?:rdma/|[\w.-]*/[\w.-]*(?:rdma|roce|hca|ib_|ibp|efa|mlnx|mlx|infiniband|sriov|_vf))[\w.-]*$")
_EFA = "vpc.amazonaws.com/efa"
_MOST = 16
"""Adapters of a machine: a plugin that offers more of them shares each with many pods."""
_NAMES = "kubectl describe node | grep -iE 'rdma|hca|roce|efa'"
_OPEN = f"resources: {{limits: {{<RDMA resource>: 1}}}}   # of the container; {_NAMES}"
_ASK = ("kubectl describe node",)


@best
def rdma_resource(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The part of a container's manifest that asks for the only RDMA resource that the nodes offer."""
    offered = {
        (name, count) for node in view.job.cluster_nodes for name, count in (node.resources or {}).items()
        if count and _RDMA.match(name)
    }  # fmt: skip
    names = {name for name, _ in offered}
    if len(names) != 1 and not view.job.cluster_nodes and POD in platforms(view.job, view):
        return Value(text=_OPEN, reason="the resources of the nodes were not seen", ask_for=_ASK)
    if len(names) != 1:
        return Value(reason="the nodes were not shown to offer one RDMA resource", ask_for=_ASK)
    name = names.pop()
    fewest = min(count for _, count in offered)
    count = fewest if name == _EFA or (fewest <= _MOST and "shared" not in name) else 1
    item = f"{name}: {count}"
    text = f"resources: {{limits: {{{item}}}, requests: {{{item}}}}}   # of the container"
    return Value(text=text, reason=f"the nodes offer {fewest} of {name}")
