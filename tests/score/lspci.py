"""Truths of lspci specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job, PciDevice


def truths(job: Job) -> dict[str, Any]:
    """GPUs and Mellanox devices with their links, and which devices have ACS controls on or off."""
    devices = [d for h in job.hosts for d in h.pci]
    return {
        "ndevices": len(devices),
        "gpus": [_device(d) for d in devices if "NVIDIA" in (d.description or "") and _is_gpu(d)],
        "mellanox": [_device(d) for d in devices if "Mellanox" in (d.description or "")],
        "acs_on": [_bdf(d) for d in devices if d.acs_redirects is True],
        "acs_off": [_bdf(d) for d in devices if d.acs_redirects is False],
    }


def _is_gpu(device: PciDevice) -> bool:
    return device.device_class in {"3D controller", "VGA compatible controller"}


def _bdf(device: PciDevice) -> str:
    return device.bus_id.removeprefix("0000:")


def _device(device: PciDevice) -> dict[str, Any]:
    found: dict[str, Any] = {"bdf": _bdf(device), "desc": device.description}
    if device.speed_gts is not None and device.width is not None:
        speed = "ok" if device.speed_gts == device.speed_gts_max else "downgraded"
        width = "ok" if device.width == device.width_max else "downgraded"
        found["lnksta"] = [f"{device.speed_gts:g}GT/s", speed, f"x{device.width}", width]
    if device.acs_controls is not None:
        found.update(acsctl=device.acs_controls, acs_on=device.acs_redirects)
    return found
