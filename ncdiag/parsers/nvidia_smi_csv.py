"""``nvidia-smi --query-gpu=...`` and ``--query-remapped-rows=... --format=csv``: a heading, then a line for each GPU.

Source of the format: ``nvidia-smi --help-query-gpu`` (CUDA driver package): names joined by dots, units in brackets
behind them. Without a heading (``noheader``) the names are those of the echoed command. Without either, a row whose
first shares are two, as those of GPU and memory are, says by its units what the values are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats.basics import number

KIND = "nvidia_smi_csv"
COMMANDS: tuple[str, ...] = ("nvidia-smi --query-gpu", "nvidia-smi --query-remapped-rows")
_NAME = r"[a-z][a-z0-9_.]{1,60}(?: \[[\w%/]{1,10}\])?"
_OWN = (
    r"(?:pci\.bus_id|gpu_bus_id|pcie\.link\.\w|driver_version|mig\.mode|compute_mode|compute_cap|persistence_mode"
    r"|clocks_(?:throttle|event)_reasons\.\w|remapped_rows\.\w|retired_pages\.\w|fabric\.\w|gpu_recovery_action"
    r"|memory\.(?:total|used|free)|utilization\.\w|power\.(?:draw|limit)|clocks\.\w|ecc\.\w|temperature\.gpu|gpu_uuid)"
)
_STAMP = r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}"
_BARE = (
    rf"[ \t]{{0,8}}(?=\d)(?:{_STAMP}, )?(?:\d{{1,2}}, )?(?:(?:NVIDIA|Tesla) [\w -]{{1,60}}, )?\d{{1,3}} %, \d{{1,3}} %"
    r"(?:, \d{1,7}(?:\.\d{1,2})? (?:W|MHz|MiB|%)|, (?:P|0x)?[0-9a-f]{1,16}|, \[?N/A\]?){1,20}[ \t]*$"
)
STRUCTURE = " \t0123456789"
ANCHOR = rf"{_BARE}|[ \t]*(?=(?:[^,\s][^,\n]{{0,69}},[ ]?){{0,40}}{_OWN}){_NAME}(?:,[ ]?{_NAME}){{1,40}}[ \t]*$"
SIGNS = ("memory.total", "memory.used", "memory.free")
_HEAD = lazy_regex(ANCHOR.removeprefix(f"{_BARE}|"))
_LONGEST, _ECHOED = 2000, "nvidia-smi --query-"
_ASKED = lazy_regex(r"--query-(?:gpu|remapped-rows)[= ](?P<names>[a-z][\w.,]{1,1000})")
_VALUE = (
    r"(?:\d{3}\.\d{2,3}(?:\.\d{2})?|\d{1,9}(?:\.\d{1,4})?(?: (?:MiB|W|%|MHz))?|(?:NVIDIA|Tesla|GRID) [\w -]{1,60}"
    r"|GPU-[0-9a-f-]{36}|[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d|Enabled|Disabled|\[?N/A\]?|Yes|No"
    rf"|{_STAMP}"
    r"|0x[0-9A-Fa-f]{4,16}|(?:Not )?Active|P\d{1,2}|\[Not Supported\])"
)
_VALUES = lazy_regex(rf"\s{{0,8}}{_VALUE}(?:, {_VALUE}){{0,40}}\s*$")
"""A row below an echoed command with ``noheader``."""


def _text(value: str) -> str | None:
    return None if value in {"", "N/A", "[N/A]"} or value.startswith("[") else value


def _count(value: str) -> int | None:
    found = re.match(r"(\d{1,9})(?:\.\d{1,4})?(?: (?:MiB|W|%|MHz))?$", value)
    return int(found[1]) if found else None


def _enabled(value: str) -> bool | None:
    return {"Enabled": True, "Disabled": False}.get(value)


def _some(value: str) -> bool | None:
    """``Yes`` and ``No``, or how many there are."""
    count = _count(value)
    return {"Yes": True, "No": False}.get(value, None if count is None else count > 0)


_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("model", _text), "gpu_name": ("model", _text),
    "uuid": ("uuid", _text), "gpu_uuid": ("uuid", _text),
    "pci.bus_id": ("bus_id", bus_id), "gpu_bus_id": ("bus_id", bus_id),
    "driver_version": ("driver", _text), "compute_cap": ("compute_capability", _text),
    "pcie.link.gen.current": ("pcie_gen", _count), "pcie.link.gen.gpucurrent": ("pcie_gen", _count),
    "pcie.link.gen.max": ("pcie_gen_max", _count),
    "pcie.link.width.current": ("pcie_width", _count), "pcie.link.width.max": ("pcie_width_max", _count),
    "memory.total": ("memory_mib", _count), "memory.used": ("memory_used_mib", _count),
    "utilization.gpu": ("load_percent", _count), "utilization.memory": ("memory_activity_percent", _count),
    "power.draw": ("power_watts", _count), "power.limit": ("power_limit_watts", _count),
    "compute_mode": ("compute_mode", _text), "mig.mode.current": ("mig", _enabled),
    "persistence_mode": ("persistence_mode", _enabled), "ecc.mode.current": ("ecc_enabled", _enabled),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", _count),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_ever", _count),
    "clocks.current.sm": ("sm_clock_mhz", _count), "clocks.sm": ("sm_clock_mhz", _count),
    "clocks.max.sm": ("sm_clock_max_mhz", _count),
    "fabric.state": ("fabric_state", _text), "fabric.status": ("fabric_status", _text),
    "gpu_recovery_action": ("recovery_action", _text),
    "remapped_rows.correctable": ("remapped_correctable", _count),
    "remapped_rows.uncorrectable": ("remapped_uncorrectable", _count),
    "remapped_rows.pending": ("remapping_pending", _some), "remapped_rows.failure": ("remapping_failed", _some),
    "retired_pages.pending": ("retirement_pending", _some),
}  # fmt: skip
"""Field of a Gpu and how its value is read, by the name that is asked for."""

_REASONS = lazy_regex(r"clocks_(?:throttle|event)_reasons\.(?P<reason>\w{1,40})$")
_SLOWDOWNS = {
    "sw_power_cap": "SW Power Cap", "hw_slowdown": "HW Slowdown", "sw_thermal_slowdown": "SW Thermal Slowdown",
    "hw_thermal_slowdown": "HW Thermal Slowdown", "hw_power_brake_slowdown": "HW Power Brake Slowdown",
}  # fmt: skip
"""Reasons as ``nvidia-smi -q`` calls them."""
_ALL = frozenset({"HW Slowdown", "SW Thermal Slowdown"})
"""Reasons that cover heat, power and the board: the driver shows HW Slowdown for each of those of the hardware."""
_BITS = {
    0x04: "SW Power Cap", 0x08: "HW Slowdown", 0x20: "SW Thermal Slowdown", 0x40: "HW Thermal Slowdown",
    0x80: "HW Power Brake Slowdown",
}  # fmt: skip
"""The same in the mask ``.active`` (nvml.h, nvmlClocksEventReason*)."""
_LOST = frozenset({"[GPU is lost]", "[GPU requires reset]"})
_UNKNOWN, _SHARE = "[Unknown Error]", 3
"""The error of a value, and the share of them (one in so many) from which on it is the GPU that cannot be read."""


def continues(lines: Sequence[str], line: str) -> bool:
    """The heading, then rows with as many values as it has names; rows alone below a command with ``noheader``."""
    if not lines:
        return _HEAD.match(line) is not None or _VALUES.match(line) is not None
    if _HEAD.match(lines[0]) is None and _VALUES.match(line) is None:
        return False
    begins_another = _HEAD.match(line) is not None or _ECHOED in line  # which has as many commas as its heading
    return len(line) < _LONGEST and not begins_another and line.count(",") == lines[0].count(",")


def parse(section: Section) -> Parsed:
    """GPUs by index; by their place where no index was asked for."""
    names, begin = _names(section)
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines[begin:], begin):
        told = dict(zip(names, (value.strip() for value in line.split(",")), strict=False))
        fields = {field: read(told[name]) for name, (field, read) in _READ.items() if name in told}
        fields |= {"slowdowns": _slowdowns(told), "unreadable": _unreadable(told)}
        place = _count(told.get("index", str(index - begin)))
        if place is None or all(value is None for value in fields.values()):
            unread.append(index)
        else:
            found.append(observe(section, index, "Gpu", (place,), **fields))
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _names(section: Section) -> tuple[list[str], int]:
    """The names of the columns, from the heading or else from the echoed command, and the first row."""
    if not section.lines:
        return [], 0
    asked = _ASKED.search(section.command or "")
    if asked is not None and _HEAD.match(section.lines[0]) is None:
        names = asked["names"].split(",")
        return names, int(section.lines[0].strip() == names[0])  # the heading of a single column has no comma
    if _HEAD.match(section.lines[0]) is None:
        return _by_units(section.lines[0]), 0
    return [re.sub(r" \[.*", "", name.strip()) for name in section.lines[0].split(",")], 1


def _by_units(row: str) -> list[str]:
    """The names of the values of a row without a heading, as far as their order and units show them."""
    named: list[str] = []
    left = {" %": ["utilization.gpu", "utilization.memory"], " W": ["power.draw", "power.limit"], " MHz": ["clocks.sm"]}
    for value in (value.strip() for value in row.split(",")):
        unit = next((unit for unit in left if value.endswith(unit) and left[unit]), None)
        if unit is not None:
            named.append(left[unit].pop(0))
        elif value.isdecimal() and not any("." in name for name in named):
            named.append("index")
        else:
            named.append("name" if value.startswith(("NVIDIA", "Tesla")) else "")
    return named


def _slowdowns(told: Mapping[str, str]) -> list[str] | None:
    """What holds the clocks down, by the columns of the reasons or by their mask.

    None where no column tells, or where one that somebody did not ask for may be the reason.
    """
    columns = {found["reason"]: value for name, value in told.items() if (found := _REASONS.match(name))}
    mask = number(columns.get("active", ""))
    if mask is not None:
        return [reason for bit, reason in _BITS.items() if mask & bit]
    known = [(reason, columns[name]) for name, reason in _SLOWDOWNS.items() if name in columns]
    answers = [(reason, value) for reason, value in known if value in {"Active", "Not Active"}]
    active = [reason for reason, value in answers if value == "Active"]
    return active if active or {reason for reason, _ in answers} >= _ALL else None


def _unreadable(told: Mapping[str, str]) -> str | None:
    """The error that is in place of the values of a GPU that the driver lost; None when they can be read."""
    lost = next((value for value in told.values() if value in _LOST), None)
    errors = sum(value == _UNKNOWN for value in told.values())
    found = lost or (_UNKNOWN if errors > 1 and errors * _SHARE >= len(told) else None)
    return found.strip("[]") if found else None
