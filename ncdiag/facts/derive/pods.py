"""Pods of a manifest against the machines that they take, and proxies of a service mesh in their way."""

from __future__ import annotations

from ncdiag.facts.model import Job, Launch
from ncdiag.facts.view import View, derived

EFA = {
    "p4d.24xlarge": (4, 8), "p4de.24xlarge": (4, 8), "p5.48xlarge": (32, 8), "p5e.48xlarge": (32, 8),
    "p5en.48xlarge": (16, 8), "p6-b200.48xlarge": (8, 8),
}  # fmt: skip
"""EFA devices and GPUs of instance types (Amazon EC2 user guide, network cards)."""


@derived
def runs_on(launch: Launch, view: View) -> str | None:
    """The instance type that the pod asks for; without a word, the only one with EFA among the nodes of the cluster."""
    if launch.instance_type is not None or launch.program != "kubernetes":
        return launch.instance_type
    nodes = [node for node in view.job.cluster_nodes if node.instance_type in EFA]
    if len({node.instance_type for node in nodes}) != 1:
        return None
    view.note(nodes[0])
    return nodes[0].instance_type


@derived
def efa_available(launch: Launch, view: View) -> int | None:
    """How many EFA devices that instance type has."""
    found = EFA.get(view.get(launch, "runs_on"))
    return found[0] if found else None


@derived
def takes_whole_instance(launch: Launch, view: View) -> bool | None:
    """Does the pod take all GPUs of that instance type?"""
    found, count = EFA.get(view.get(launch, "runs_on")), view.get(launch, "gpu_count")
    return None if found is None or count is None else count == found[1]


@derived
def asks_other_efa_count(launch: Launch, view: View) -> bool | None:
    """Does it ask for some EFA devices, and not for as many as there are?"""
    available = view.get(launch, "efa_available")
    if launch.efa_devices is None or available is None:
        return None if launch.efa_devices is None or launch.efa_devices else False
    return launch.efa_devices not in {0, available}


@derived
def efa_effect(launch: Launch, view: View) -> str:
    """What comes of it."""
    more = (launch.efa_devices or 0) > (view.get(launch, "efa_available") or 0)
    return "no node can ever take such a pod" if more else "the other rails stay unused"


@derived
def service_mesh(job: Job, view: View) -> str | None:
    """A sentence about a proxy that takes the connections of the ranks; empty for none, None when nothing tells."""
    for launch in job.launches:
        if launch.mesh:
            view.note(launch)
            return f"The pods of {launch.text} carry the proxy of a service mesh ({launch.mesh})"
    for host in job.hosts:
        if host.mesh_chain:
            view.note(host, "mesh_chain")
            chain = f"(chain {host.mesh_chain})"
            return f"The connections of {host.name} are redirected to the proxy of a service mesh {chain}"
    told = [launch.mesh for launch in job.launches if launch.program == "kubernetes"]
    told += [host.mesh_chain for host in job.hosts]
    return "" if told and None not in told else None
