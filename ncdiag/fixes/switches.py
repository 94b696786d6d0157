"""The variables that switch a part of NCCL off, as an expert does to find out whether the fault is in that part.

A part has the names of objects of cells (``ncdiag/cells/objects.toml``), by which lines of the input name it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping

import msgspec

from ncdiag.facts.view import View
from ncdiag.nccl import environment

_BUILT_IN = frozenset({"IB", "Socket"})
"""The networks of NCCL itself; any other is a plugin's."""
_RDMA = "RDMA"


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """How to run without a part: ``part`` names it in a sentence, ``instead`` is what NCCL then uses.

    ``slows``: a job that is only slow gains nothing from it, since what is used instead is slower.
    """

    part: str
    objects: frozenset[str]
    env: Mapping[str, str]
    instead: str
    slows: bool = False


SWITCHES = (
    Switch(
        part="peer access between GPUs", objects=frozenset({"gpu-peer-access", "gpu-ipc", "acs", "iommu"}),
        env={"NCCL_P2P_DISABLE": "1"}, instead="host memory", slows=True,
    ),
    Switch(
        part="CUDA's virtual memory", objects=frozenset({"gpu-virtual-memory"}),
        env={"NCCL_CUMEM_ENABLE": "0"}, instead="the older allocator",
    ),
    Switch(
        part="NVLS", objects=frozenset({"nvls"}), env={"NCCL_NVLS_ENABLE": "0"}, instead="rings and trees",
    ),
    Switch(
        part="multi-node NVLink", objects=frozenset({"imex"}), env={"NCCL_MNNVL_ENABLE": "0"},
        instead="the network", slows=True,
    ),
    Switch(
        part="shared memory", objects=frozenset({"shared-memory", "shared-memory-file"}),
        env={"NCCL_SHM_DISABLE": "1"}, instead="the network", slows=True,
    ),
    Switch(
        part="DMA-BUF", objects=frozenset({"dma-buf"}), env={"NCCL_DMABUF_ENABLE": "0"},
        instead="nvidia_peermem where it is loaded, else host memory",
    ),
    Switch(
        part="GPUDirect RDMA", objects=frozenset({"gdr", "peer-memory-module"}),
        env={"NCCL_NET_GDR_LEVEL": "LOC"}, instead="host memory", slows=True,
    ),
    Switch(
        part="enhanced connection establishment", objects=frozenset({"rdma-ece"}),
        env={"NCCL_IB_ECE_ENABLE": "0"}, instead="plain connections",
    ),
    Switch(
        part="adaptive routing", objects=frozenset({"adaptive-routing"}),
        env={"NCCL_IB_ADAPTIVE_ROUTING": "0"}, instead="ordered messages",
    ),
    Switch(
        part="relaxed ordering of PCIe", objects=frozenset({"pcie-ordering"}),
        env={"NCCL_IB_PCI_RELAXED_ORDERING": "0"}, instead="ordered writes",
    ),
    Switch(
        part="SHARP", objects=frozenset({"sharp"}), env={"NCCL_COLLNET_ENABLE": "0"}, instead="rings and trees",
    ),
    Switch(
        part="the network plugin", objects=frozenset({"plugin-net", "plugin-api"}),
        env={"NCCL_NET_PLUGIN": "none"}, instead="NCCL's own transports", slows=True,
    ),
    Switch(
        part="the tuner plugin", objects=frozenset({"plugin-tuner"}),
        env={"NCCL_TUNER_PLUGIN": "none"}, instead="NCCL's own choice",
    ),
    Switch(
        part=_RDMA, instead="TCP", slows=True, env={"NCCL_IB_DISABLE": "1"},
        objects=frozenset({
            "queue-pair", "qp-modify", "wc-retry", "wc-rnr", "wc-remote", "wc-local", "wc-flush", "address-handle",
            "gid", "gid-index", "gid-version", "gid-link-local", "roce", "roce-udp", "pkey", "lid", "subnet-manager",
            "grh", "memory-region", "rdma-device", "rdma-driver", "verbs-library", "verbs-provider",
            "rdma-device-file", "port-rdma", "link-rdma", "fabric-path", "rdma-cm",
        }),
    ),
)  # fmt: skip

PROTOCOLS = Switch(
    part="the protocols LL and LL128", objects=frozenset(), env={"NCCL_PROTO": "Simple"},
    instead="the simple protocol", slows=True,
)  # fmt: skip
"""What most defects of releases in collectives need: kernels that wait for flags within the data."""


@functools.lru_cache(maxsize=1)
def _by_object() -> Mapping[str, Switch]:
    return {thing: switch for switch in SWITCHES for thing in switch.objects}


def switch_of(thing: str) -> Switch | None:
    """The switch for an object of cells; None if its part cannot be switched off."""
    return _by_object().get(thing)


def change(switch: Switch, view: View) -> dict[str, str]:
    """The variables of a switch with their values for this job; empty if its release does not read one of them.

    A network plugin takes no notice of NCCL_IB_DISABLE: it is left out as well (that of HPC-X has a variable of its
    own, and NCCL before 2.11 no other way).
    """
    env = dict(switch.env)
    if switch.part == _RDMA:
        env |= _without_plugin({rank.net for rank in view.job.ranks if rank.net} - _BUILT_IN)
    return env if all(_is_read(name, view) for name in env) else {}


def _without_plugin(nets: Collection[str]) -> Mapping[str, str]:
    if not nets:
        return {}
    return {"NCCL_IBEXT_DISABLE": "1"} if all(net.startswith("IBext") for net in nets) else {"NCCL_NET_PLUGIN": "none"}


def _is_read(name: str, view: View) -> bool:
    """False if the job's release certainly does not read the variable."""
    known = environment.variables().get(name)
    return known is None or known.exists_at(view.version()) is not False
