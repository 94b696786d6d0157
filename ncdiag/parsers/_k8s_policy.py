"""A NetworkPolicy as a manifest writes it: which pods it restricts, if it keeps them from each other at all.

Source: Kubernetes API reference v1.31 (NetworkPolicySpec, NetworkPolicyIngressRule, NetworkPolicyPeer).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.formats.yaml import Node

KIND = "NetworkPolicy"
_SIDES = (("Ingress", "ingress", "from"), ("Egress", "egress", "to"))


def restricted(root: Node) -> str | None:
    """The labels of the pods that the policy restricts, ``<none>`` for all; None if it lets all reach each other."""
    if root.text("kind") != KIND or root.get("spec", "podSelector") is None:
        return None
    if all(any(_admits_all(rule, peers) for rule in root.items("spec", side)) for side, peers in _restricting(root)):
        return None
    labels = root.pairs("spec", "podSelector", "matchLabels")
    chosen = ",".join(f"{name}={value.value}" for name, value in labels.items())
    return chosen or ("(expression)" if root.items("spec", "podSelector", "matchExpressions") else "<none>")


def _restricting(root: Node) -> Iterator[tuple[str, str]]:
    """The keys of the rules and of their peers, for each direction that the policy restricts."""
    types = [node.value for node in root.items("spec", "policyTypes")]
    for name, side, peers in _SIDES:
        if name in types or (not types and (side == "ingress" or root.get("spec", side) is not None)):
            yield side, peers


def _admits_all(rule: Node, peers: str) -> bool:
    """Does a rule admit all ports of all pods of the namespace?"""
    listed = rule.items(peers)
    return not rule.items("ports") and (not listed or any(map(_is_everyone, listed)))


def _is_everyone(peer: Node) -> bool:
    """Does a peer stand for every pod of the namespace: a selector of pods without labels?"""
    if peer.get("ipBlock") is not None:
        return False
    pods, spaces = peer.get("podSelector"), peer.get("namespaceSelector")
    return not (pods and pods.value) and not (spaces and spaces.value)
