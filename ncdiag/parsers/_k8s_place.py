"""Where a pod of a manifest is to run, and what is between it and the network: node labels, a service mesh.

Sources: Kubernetes well-known labels (node.kubernetes.io/instance-type), GKE (cloud.google.com/gke-accelerator), Istio
resource annotations and sidecar injection, Linkerd proxy configuration (linkerd.io/inject, config.linkerd.io/skip-...).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.yaml import Node

_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ACCELERATOR = "cloud.google.com/gke-accelerator"
_PROXIES = lazy_regex(r"istio-proxy$|linkerd-proxy$|envoy-sidecar$")
_INJECTED = {"sidecar.istio.io/inject": {"true": True, "false": False},
             "linkerd.io/inject": {"enabled": True, "ingress": True, "disabled": False}}  # fmt: skip
_EXCEPTIONS = ("traffic.sidecar.istio.io/", "config.linkerd.io/skip-", "config.linkerd.io/opaque-ports")


def place(spec: Node) -> dict[str, Any]:
    """``instance_type`` and ``accelerator`` of the nodes that the pod may run on, where it is one alone."""
    wanted = dict(_wanted(spec))
    return {
        "instance_type": next((wanted[name] for name in _TYPES if name in wanted), None),
        "accelerator": wanted.get(_ACCELERATOR),
    }


def _wanted(spec: Node) -> Iterator[tuple[str, str]]:
    """Labels that the node has to have: of the required affinity with a single value, and of the selector."""
    terms = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    found = spec.items(*terms)
    for expression in found[0].items("matchExpressions") if len(found) == 1 else ():  # several terms: one of them
        key, values = expression.text("key"), expression.items("values")
        if key and expression.text("operator") == "In" and len(values) == 1 and isinstance(values[0].value, str):
            yield key, values[0].value
    for key, node in spec.pairs("nodeSelector").items():
        if isinstance(node.value, str):
            yield key, node.value


def mesh(spec: Node, *metadata: Node | None) -> str | None:
    """The proxy of a service mesh that takes the pod's connections; empty for none, None when nothing tells.

    ``metadata`` are its labels and annotations. A pod in the host's network is never redirected; one that names ports
    or networks to leave out may well leave out those of the job.
    """
    if spec.text("hostNetwork") == "true":
        return ""
    pairs = [pair for node in metadata if node is not None for pair in node.pairs().items()]
    said = {key: child.value for key, child in pairs if isinstance(child.value, str)}
    asked = {key: values.get(said[key].lower()) for key, values in _INJECTED.items() if key in said}
    if False in asked.values():
        return ""
    if any(key.startswith(_EXCEPTIONS) for key in said):
        return None
    names = [c.text("name") or "" for side in ("containers", "initContainers") for c in spec.items(side)]
    proxy = next((name for name in names if _PROXIES.match(name)), None)
    return proxy or next((key for key, value in asked.items() if value), None)
