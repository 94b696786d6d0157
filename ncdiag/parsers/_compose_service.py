"""The options of the container of a compose service (compose-spec 05-services.md, deploy.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ncdiag.formats.units import size_bytes
from ncdiag.formats.yaml import Node


def container(service: Node) -> Iterator[tuple[str, Any]]:
    """The fields of a Launch from a compose service."""
    yield "image", service.text("image")
    yield "ipc", service.text("ipc")
    yield "network", service.text("network_mode")
    yield "privileged", service.text("privileged") == "true"
    yield "cap_add", [str(item.value) for item in service.items("cap_add")]
    yield "devices", [str(item.value) for item in service.items("devices")]
    size = service.text("shm_size")
    yield "shm_size_bytes", size_bytes(size) if size else None
    limit = service.text("ulimits", "memlock") or service.text("ulimits", "memlock", "soft")
    yield "memlock", "unlimited" if limit == "-1" else limit
    devices = service.items("deploy", "resources", "reservations", "devices")
    gpus = [item for item in devices if any(cap.value == "gpu" for cap in item.items("capabilities"))]
    counts = [item.text("count") for item in gpus]
    yield "gpus", (counts[0] or "all") if gpus else service.text("gpus") or _by_runtime(service)


def _by_runtime(service: Node) -> str | None:
    return "all" if service.text("runtime") == "nvidia" else None
