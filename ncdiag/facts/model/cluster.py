"""The environment of the hosts: nodes of Kubernetes, and instances and security groups of a cloud."""

from __future__ import annotations

from ncdiag.facts.model.base import Fact


class ClusterNode(Fact, frozen=True, kw_only=True):
    """A node of Kubernetes; ``resources`` is what device plugins offer there, by name (``vpc.amazonaws.com/efa``)."""

    KEY = ("name",)

    name: str
    instance_type: str | None = None
    resources: dict[str, int] | None = None


class CloudInstance(Fact, frozen=True, kw_only=True):
    """A virtual machine of a cloud, with the virtual network ``vpc`` and the availability ``zone`` that it is in."""

    KEY = ("id",)

    id: str
    vpc: str | None = None
    zone: str | None = None


class SecurityGroup(Fact, frozen=True, kw_only=True):
    """A packet filter of a cloud.

    ``takes_own`` and ``sends_own`` are True when it lets all traffic from, or to, members of the same group pass.
    """

    KEY = ("id",)

    id: str
    takes_own: bool | None = None
    sends_own: bool | None = None
