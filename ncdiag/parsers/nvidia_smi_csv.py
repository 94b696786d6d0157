"""``nvidia-smi --query-gpu=... --format=csv``: a heading with the names asked for, a line a GPU.

Source of the format: ``nvidia-smi --help-query-gpu`` (CUDA driver package): names joined by dots, units in brackets
behind them. Without a heading (``noheader``) the names are those of the echoed command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.spans import Section

KIND = "nvidia_smi_csv"
COMMANDS: tuple[str, ...] = ()  # told by the heading: the option carries its value in the same word
_NAME = r"[a-z][a-z0-9_.]{1,60}(?: \[[\w%/]{1,10}\])?"
_OWN = (
    r"(?:pci\.bus_id|gpu_bus_id|pcie\.link\.\w|driver_version|mig\.mode|compute_mode|compute_cap|persistence_mode"
    r"|memory\.(?:total|used|free)|utilization\.\w|power\.(?:draw|limit)|clocks\.\w|ecc\.\w|temperature\.gpu|gpu_uuid)"
)
ANCHOR = rf"[ \t]*(?=(?:[^,\s][^,\n]{{0,69}},[ ]?){{0,40}}{_OWN}){_NAME}(?:,[ ]?{_NAME}){{1,40}}[ \t]*$"
_HEAD = re.compile(ANCHOR)
_LONGEST = 2000


def _text(value: str) -> str | None:
    return None if value in {"", "N/A", "[N/A]", "[Not Supported]", "[Unknown Error]"} else value


def _count(value: str) -> int | None:
    found = re.match(r"(\d{1,9})(?:\.\d{1,4})?(?: (?:MiB|W|%|MHz))?$", value)
    return int(found[1]) if found else None


def _enabled(value: str) -> bool | None:
    return {"Enabled": True, "Disabled": False}.get(value)


_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("model", _text), "gpu_name": ("model", _text),
    "uuid": ("uuid", _text), "gpu_uuid": ("uuid", _text),
    "pci.bus_id": ("bus_id", bus_id), "gpu_bus_id": ("bus_id", bus_id),
    "driver_version": ("driver", _text), "compute_cap": ("compute_capability", _text),
    "pcie.link.gen.current": ("pcie_gen", _count), "pcie.link.gen.gpucurrent": ("pcie_gen", _count),
    "pcie.link.gen.max": ("pcie_gen_max", _count),
    "pcie.link.width.current": ("pcie_width", _count), "pcie.link.width.max": ("pcie_width_max", _count),
    "memory.total": ("memory_mib", _count), "utilization.gpu": ("load_percent", _count),
    "power.draw": ("power_watts", _count), "power.limit": ("power_limit_watts", _count),
    "compute_mode": ("compute_mode", _text), "mig.mode.current": ("mig", _enabled),
    "persistence_mode": ("persistence_mode", _enabled), "ecc.mode.current": ("ecc_enabled", _enabled),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", _count),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_ever", _count),
    "clocks.current.sm": ("sm_clock_mhz", _count), "clocks.sm": ("sm_clock_mhz", _count),
    "clocks.max.sm": ("sm_clock_max_mhz", _count),
}  # fmt: skip
"""Field of a Gpu and how its value is read, by the name that is asked for."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows with as many values as the heading has names."""
    return len(line) < _LONGEST and _HEAD.match(line) is None and line.count(",") == lines[0].count(",")


def parse(section: Section) -> Parsed:
    """GPUs by index; by their place where no index was asked for."""
    names = [re.sub(r" \[.*", "", name.strip()) for name in section.lines[0].split(",")] if section.lines else []
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines[1:], 1):
        told = dict(zip(names, (value.strip() for value in line.split(",")), strict=False))
        fields = {field: read(told[name]) for name, (field, read) in _READ.items() if name in told}
        number = _count(told.get("index", str(index - 1)))
        if number is None or all(value is None for value in fields.values()):
            unread.append(index)
        else:
            found.append(observe(section, index, "Gpu", (number,), **fields))
    return Parsed(observations=tuple(found), unread=tuple(unread))
