"""How the GPUs of a host reach its NICs and each other, computed once for hosts with the same hardware."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ncdiag.facts.model import Gpu, Hca, Host, Interface, KernelModule, PciDevice, TopoLink
from ncdiag.facts.view import View
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.chosen import AnyVersion, OfHost
from ncdiag.nccl.selection.gdr import MODULES, Gdr, gdr
from ncdiag.nccl.selection.nics import Nics, nics
from ncdiag.nccl.selection.p2p import Local, local_transports

_OF_HOST = (
    "complete", "cpu_arch", "cpu_vendor", "nic_labels", "absent_modules", "peermem_registered", "open_kernel_module",
    "kernel_release", "rdma_core_version",
)  # fmt: skip
_OF_GPU = ("index", "bus_id", "model", "cuda", "compute_capability", "nvlinks")
_OF_FUNCTION = ("bus_id", "bridges", "width_max", "speed_gts_max", "numa_node", "ids")
_OF_LINK = ("a", "b", "level", "path_type", "nvlink_count", "p2p_read", "p2p_write", "p2p_status")


class Reach(NamedTuple):
    """GPUDirect RDMA by RDMA device, the NICs of each GPU, and the transports between GPUs."""

    direct: dict[str, Gdr]
    nics: Nics
    local: Local


def reach(  # noqa: PLR0913, PLR0917  (what is known)
    host: Host, view: View, settings: Mapping[str, str], version: AnyVersion, found: OfHost, hcas: Sequence[str]
) -> Reach:  # fmt: skip
    """Return what follows from the hardware, the ``settings`` and the devices ``found``.

    ``hcas`` are those to check.
    """
    has_file = chosen.topology_of(host, view) is not None  # the file describes this host alone
    known, names = host if has_file else hardware(host), chosen.nic_names(found)

    def work() -> Reach:
        far = chosen.distances_of(known, view, settings, found.ports)
        direct = {hca: gdr(known, hca, settings, version, far) for hca in hcas}
        fast = {hca for hca, verdict in direct.items() if verdict.enabled}
        local = local_transports(known, far, settings, version, chosen.processor_of(known, view), fast)
        return Reach(direct, nics(far, names, settings, version), local)

    if has_file:
        return work()
    ports = tuple((port.hca, port.rate_gbps) for port in found.ports.ports)
    key = ("reach", msgspec.msgpack.encode(known), tuple(settings.items()), version, ports, names, tuple(hcas))
    return view.remembered(key, work)


def hardware(host: Host) -> Host:
    """Return the host with only what its paths depend on: no name, address, serial number, counter or source."""
    return Host(
        name="",
        gpus=tuple(Gpu(host="", **_some(gpu, _OF_GPU)) for gpu in host.gpus),
        hcas=tuple(Hca(host="", name=hca.name, bus_id=hca.bus_id) for hca in host.hcas),
        interfaces=tuple(
            Interface(host="", name=one.name, bus_id=one.bus_id, speed_mbps=one.speed_mbps)
            for one in host.interfaces if one.bus_id
        ),
        pci=tuple(PciDevice(host="", **_some(function, _OF_FUNCTION)) for function in host.pci),
        links=tuple(TopoLink(host="", **_some(link, _OF_LINK)) for link in host.links),
        modules=tuple(KernelModule(host="", name=one.name) for one in host.modules if one.name in MODULES),
        **_some(host, _OF_HOST),
    )  # fmt: skip


def _some(fact: object, fields: Iterable[str]) -> dict[str, Any]:
    return {field: getattr(fact, field) for field in fields}
