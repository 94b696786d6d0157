"""What a job ran on, by which many jobs are compared: switches, cards, images, drivers and releases."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Hca, Job
from ncdiag.facts.view import View

_MOST = 200
"""Maximum number of values of one kind."""


def traits(view: View) -> dict[str, tuple[str, ...]]:
    """The values that were seen, by kind: ``leaf switch``, ``HCA``, ``image``, ``driver``, ``release`` (of NCCL)."""
    job = view.job
    found: dict[str, dict[str, None]] = {
        "leaf switch": dict.fromkeys(_leaves(job)),
        "HCA": dict.fromkeys(text for host in job.hosts for hca in host.hcas if (text := _card(hca))),
        "image": dict.fromkeys(launch.image for launch in job.launches if launch.image),
        "driver": dict.fromkeys(
            driver for host in job.hosts for driver in (host.driver, *(gpu.driver for gpu in host.gpus)) if driver
        ),
        "release": dict.fromkeys(_releases(job)),
    }  # fmt: skip
    return {kind: tuple(sorted(values)[:_MOST]) for kind, values in found.items() if values}


def _card(hca: Hca) -> str:
    """``MCX75310AAS-NEAT, firmware 28.39.1002``: model and firmware, as far as they were seen."""
    model = hca.board or hca.part_id or hca.board_id
    return ", ".join(filter(None, (model, f"firmware {hca.firmware}" if hca.firmware else "")))


def _releases(job: Job) -> Iterator[str]:
    """The releases of NCCL that ranks print, or that are installed on hosts."""
    found = [*(rank.nccl_version for rank in job.ranks), *(host.nccl_version for host in job.hosts)]
    yield from (str(version) for version in found if version is not None and version.known)


def _leaves(job: Job) -> Iterator[str]:
    """The switches to which the adapters of the job's hosts are connected; an adapter is named after its host."""
    hosts = {host.name.partition(".")[0] for host in job.hosts}
    for fabric in job.fabrics:
        switches = {node.guid: node.name or node.guid for node in fabric.nodes if node.kind == "switch"}
        for node in fabric.nodes:
            if node.kind == "ca" and (node.name or "").partition(" ")[0].partition(".")[0] in hosts:
                yield from (switches[link.peer] for link in node.links if link.peer in switches)
