"""RDMA ports of a host that the job does not use."""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job, Port, Rank
from ncdiag.facts.view import View

_DATA_DIRECT = "_dma"
"""The suffix of the names under which NCCL lists a ConnectX-8 that uses Data Direct (2.27 and later)."""


@derived
def twin_is_active(port: Port, view: View) -> bool:
    """Is the port of the same device and number active on another host, so that a subnet manager runs there?

    Hosts of one kind have their cards in the same order, and those of one place on one network.
    """
    for host in view.job.hosts:
        for hca in host.hcas if host.name != port.host else ():
            for twin in hca.ports if hca.name == port.hca else ():
                if (twin.number, twin.state) == (port.number, "active"):
                    view.note(twin, "state")
                    return True
    return False


@derived
def lacks_rails(rank: Rank, view: View) -> bool | None:
    """Does the rank list fewer RDMA ports than it could?

    True for an active port of the same link layer and rate as the listed ones that NCCL_IB_HCA does not exclude, or
    where ranks of other hosts list more. None when the rank listed none.
    """
    missing = unlisted_ports(rank, view)
    most = _most_listed(rank, view)
    if missing:
        return True
    if rank.net_devices is None:
        return None
    if len(rank.net_devices) < most:
        view.note(rank, "net_devices")
        return True
    return None if missing is None and most == len(rank.net_devices) else False


@derived
def most_devices(job: Job, view: View) -> dict[str, int]:
    """The largest number of network devices that a rank lists, by network."""
    found: dict[str, int] = {}
    for rank in job.ranks:
        found[rank.net or ""] = max(found.get(rank.net or "", 0), len(rank.net_devices or ()))
    return found


def _most_listed(rank: Rank, view: View) -> int:
    return int(most_devices(view.job, view).get(rank.net or "", 0))


@derived
def rails_text(rank: Rank, view: View) -> str:
    """The ports used and unused: ``uses 1 RDMA port and leaves mlx5_1:1 idle``."""
    listed = len(rank.net_devices or ())
    missing = unlisted_ports(rank, view)
    if missing:
        return f"uses {listed} RDMA ports and leaves {', '.join(missing)} idle"
    return f"uses {listed} RDMA ports where another host uses {_most_listed(rank, view)}"


@derived
def unlisted_ports(rank: Rank, view: View) -> tuple[str, ...] | None:
    """Active ports like the listed ones that the rank does not list; None when its host's ports were not shown."""
    if not rank.net_devices:
        return None
    host = _host_of(rank, view)
    if host is None or not host.hcas:
        return None
    names = {part.removesuffix(_DATA_DIRECT) for d in rank.net_devices for part in d.name.split("+")}
    ports = [p for hca in host.hcas for p in hca.ports if p.state == "active"]
    rates = {(p.link_layer, p.rate_gbps) for p in ports if p.hca in names}
    chosen = view.setting(rank, "NCCL_IB_HCA")
    if chosen is not None and chosen.is_set:
        return ()
    idle = [p for p in ports if p.hca not in names and p.rate_gbps and (p.link_layer, p.rate_gbps) in rates]
    for port in idle:
        view.note(port)
    return tuple(f"{p.hca}:{p.number}" for p in idle)


def _host_of(rank: Rank, view: View) -> Host | None:
    """The rank's host; where its devices were pasted without a host name, the host of that paste."""
    host = view.host(rank.host)
    if host is not None and host.hcas:
        return host
    pasted = view.host(UNNAMED)
    return pasted if pasted is not None and pasted.hcas else None
