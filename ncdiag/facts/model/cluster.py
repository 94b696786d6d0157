"""What the surroundings of the hosts say: nodes of Kubernetes, instances and security groups of a cloud."""

from __future__ import annotations

from ncdiag.facts.model.base import Fact


class ClusterNode(Fact, frozen=True, kw_only=True):
    """A node of Kubernetes; ``resources`` is what device plugins offer there, by name (``vpc.amazonaws.com/efa``)."""

    KEY = ("name",)

    name: str
    instance_type: str | None = None
    resources: dict[str, int] | None = None


class CloudInstance(Fact, frozen=True, kw_only=True):
    """A machine that a cloud rents out, in its network ``vpc`` and in its ``zone``."""

    KEY = ("id",)

    id: str
    vpc: str | None = None
    zone: str | None = None


class SecurityGroup(Fact, frozen=True, kw_only=True):
    """A packet filter of the cloud; ``takes_own`` and ``sends_own``: all traffic from and to its own members passes."""

    KEY = ("id",)

    id: str
    takes_own: bool | None = None
    sends_own: bool | None = None
