"""The truths of NCCL topology files, from the merged facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """Counts, and the distinct values in the words of the file."""
    if len(job.topologies) != 1:
        return {}
    system = job.topologies[0]
    links = [link for gpu in system.gpus for link in gpu.links]
    nvlinks = [link for link in links if link.kind == "nvlink"]
    nets = [net for nic in system.nics for net in nic.nets]
    classes = [device.class_code or "" for device in system.pci]
    return {
        "root": "system" if system.whole or system.version is not None else None,
        "version": str(system.version),
        "ncpus": len(system.cpus),
        "cpu_numaids": [str(cpu.numa_id) for cpu in system.cpus],
        "cpu_vendor": _words(cpu.vendor for cpu in system.cpus),
        "arch": _words(cpu.arch for cpu in system.cpus),
        "ngpus": len(system.gpus),
        "gpu_sm": _words(gpu.sm for gpu in system.gpus),
        "gpu_gcn": _words(gpu.gcn for gpu in system.gpus),
        "gpu_gdr": _words(gpu.gdr for gpu in system.gpus),
        "nnics": len(system.nics),
        "nnets": len(nets),
        "net_names": [net.name for net in nets],
        "net_speed": _words(net.speed_mbps for net in nets),
        "net_gdr": _words(net.gdr for net in nets),
        "nvlink_elements": len(nvlinks),
        "nvlink_count_sum": sum(link.count or 0 for link in nvlinks),
        "xgmi_elements": len(links) - len(nvlinks),
        "npci": len(system.pci),
        "pci_class_gpu": _starting(classes, "0x0302"),
        "pci_class_ib": _starting(classes, "0x0207"),
        "pci_class_eth": _starting(classes, "0x0200"),
    }


def _words(values: Iterable[object]) -> list[str]:
    """Distinct values as the file writes them."""
    return sorted({str(int(value)) if isinstance(value, bool) else str(value) for value in values if value is not None})


def _starting(classes: list[str], prefix: str) -> int:
    return sum(code.startswith(prefix) for code in classes)
