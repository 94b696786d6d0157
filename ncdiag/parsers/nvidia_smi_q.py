"""``nvidia-smi -q``, whole or of some groups (``-d ECC``): what the driver says of each GPU.

Source of the format: nvidia-smi (CUDA driver package, seen from release 384 to 580): blocks by indentation, ``name :
value``. Groups and names came over the years (Retired Pages before Ampere, Remapped Rows since; Clocks Throttle Reasons
became Clocks Event Reasons, GPU Recovery Action came in 570); what a release lacks stays unknown. Of a GPU that the
driver lost, values are the text of an NVML error (nvmlErrorString). The XML form (``-x``) says the same in other words
(`_smi_xml`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers import _gpu_list, _smi_xml

KIND = "nvidia_smi_q"
COMMANDS: tuple[str, ...] = ("nvidia-smi -q", "nvidia-smi --query")
_GPU_LINE = r"GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
ANCHOR = rf"={{4,40}}NVSMI LOG={{4,40}}[ \t]*$|{_GPU_LINE}[ \t]*$"
ANCHOR += r"|<!DOCTYPE nvidia_smi_log |<nvidia_smi_log>[ \t]*$"

_TROUBLE = re.compile(r"\s*Unable to determine the device handle for ")
"""In place of what is told of a GPU: left to the catalogue of messages."""
_XML = re.compile(r"\s*<(?:\?xml |!DOCTYPE nvidia_smi_log |nvidia_smi_log>)")
_TITLE = re.compile(r"=+NVSMI LOG=+\s*$")
_BETWEEN = re.compile(r"--\s*$")
"""What grep prints between the parts that it shows (``nvidia-smi -q | grep -A3 Fabric``)."""
_GPU = re.compile(rf"({_GPU_LINE})\s*$")
_VALUE = re.compile(
    r"(?P<indent>\s{0,60})(?P<name>\S.{0,78}?)\s{0,60}:\s(?P<value>.{0,300})$|\s{0,60}\S.{0,78}?\s{0,60}:$"
)
_GROUP = re.compile(r"(?P<indent>\s{4,60})(?P<name>[A-Z][\w /()&.-]{1,60})$")
_NOTHING = frozenset({"N/A", "None", "", "Not Found", "Unknown", "Unknown Error", "[N/A]", "[Not Supported]"})
_SLOWDOWNS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
_IDLE = frozenset({"Idle", "Applications Clocks Setting", "Sync Boost"})
"""Reasons that hold nothing back that somebody would miss."""
_DEPTH = 12
_INDENT = 4
"""Blanks before what is told of a GPU; none come before what is told of the host."""

_Path = tuple[str, ...]


def continues(lines: Sequence[str], line: str) -> bool:
    """Values, groups, GPUs and blank lines."""
    if not line.strip():
        return True
    if _TITLE.match(line):
        return False
    if _XML.match(lines[0] or line):
        return _smi_xml.ELEMENT.match(line) is not None or basics.is_elision(line)
    return any(p.match(line) for p in (_GPU, _VALUE, _GROUP, _BETWEEN)) or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """GPUs by index where all are listed, else by bus id; what is told of the host above them."""
    reader = _Reader(section)
    reader = _Reader(section)
    xml = bool(section.lines) and _XML.match(section.lines[0]) is not None
    take = reader.take_xml if xml else reader.take
    unread = [i for i, line in enumerate(section.lines) if line.strip() and not take(i, line)]
    none = _gpu_list.none_found(section)
    parsed = reader.parsed(tuple(unread))
    return Parsed(observations=tuple(none), unread=()) if none else parsed


class _Reader:
    """The GPUs of a section with their values by path (``("ECC Mode", "Current")``)."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._host: dict[str, Any] = {}
        self._gpus: list[tuple[int, str | None, dict[_Path, str]]] = []
        self._common: dict[str, str] = {}
        self._groups: list[tuple[int, str]] = []
        self._elided = False

    def take(self, index: int, line: str) -> bool:
        """Read one line; False when it is none of the output."""
        gpu, value = _GPU.match(line), _VALUE.match(line)
        if gpu:
            self._begin(index, gpu[1][4:])
        elif _TROUBLE.match(line):
            return False
        elif value:
            self._value(index, value)
        elif group := _GROUP.match(line):
            self._nest(len(group["indent"]))
            self._part(index, group["name"].strip())
            if len(self._groups) < _DEPTH:
                self._groups.append((len(group["indent"]), group["name"].strip()))
        elif basics.is_elision(line):
            self._elided = True
        else:
            return _TITLE.match(line) is not None or _BETWEEN.match(line) is not None
        return True

    def take_xml(self, index: int, line: str) -> bool:
        """Read one line of the XML form; False when it is none of it."""
        element = _smi_xml.ELEMENT.match(line)
        if element is None:
            self._elided = self._elided or basics.is_elision(line)
            return self._elided
        group, name = element["group"], element["name"]
        if name:
            self._put(_smi_xml.word(name), element["value"].strip())
        elif group and line.lstrip().startswith("</"):
            self._groups = self._groups[:-1]
        elif group == "gpu" and element["id"]:
            self._begin(index, element["id"])
        elif group and not line.rstrip().endswith("/>") and self._gpus and len(self._groups) < _DEPTH:
            self._groups.append((0, _smi_xml.word(group)))
        return True

    def _begin(self, index: int, address: str) -> None:
        self._gpus.append((index, bus_id(address) or address, {}))
        self._groups = []

    def _put(self, name: str, value: str) -> None:
        path = (*(group for _, group in self._groups), name)
        if not self._gpus:
            self._common.setdefault(name, value)
        elif path[-1] == "retired_count":
            self._gpus[-1][2].setdefault(path[:-1], value)
        else:
            self._gpus[-1][2].setdefault(path, value)

    def _part(self, index: int, name: str) -> None:
        """Parts that a filter left, without the lines that name the GPUs: one for each GPU, in their order."""
        if self._groups or any(address for _, address, _ in self._gpus):
            return
        if not self._gpus or name in {path[0] for path in self._gpus[-1][2]}:
            self._gpus.append((index, None, {}))

    def _nest(self, indent: int) -> None:
        while self._groups and self._groups[-1][0] >= indent:
            self._groups.pop()

    def _value(self, index: int, found: re.Match[str]) -> None:
        if found["name"] is None:
            return
        self._nest(len(found["indent"]))
        if len(found["indent"]) == _INDENT:
            self._part(index, found["name"])
        self._put(found["name"], found["value"].strip())

    def parsed(self, unread: tuple[int, ...]) -> Parsed:
        """All observations; the list of GPUs is whole when as many as are attached were read."""
        attached = basics.number(self._common.get("Attached GPUs", ""))
        whole = attached is not None and attached == len(self._gpus) and not self._elided
        found = [
            self._gpu(number if whole or gpu[1] is None else gpu[1], *gpu) for number, gpu in enumerate(self._gpus)
        ]
        driver = _text(self._common.get("Driver Version", ""))
        stamp = _text(self._common.get("Timestamp", ""))
        if self._section.lines and any((attached is not None, driver, stamp)):
            found.append(
                observe(self._section, 0, "Host", gpus_attached=attached, gpus_queried=stamp, driver=driver)
            )  # fmt: skip
        complete = whole and basics.unfiltered(
            self._section.command, "nvidia-smi", ("-q", "--query", "-x", "--xml-format")
        )
        return Parsed(observations=tuple(found), unread=unread, complete=complete)

    def _gpu(self, key: int | str, index: int, address: str | None, told: Mapping[_Path, str]) -> Observation:
        fields = {name: value for name, value in _fields(told).items() if value is not None}
        fields["bus_id"] = bus_id(address or "")
        for field, name in (("driver", "Driver Version"), ("cuda", "CUDA Version")):
            fields[field] = _text(self._common.get(name, ""))
        return observe(self._section, index, "Gpu", (key,), **fields)


def _text(value: str) -> str | None:
    return None if value in _NOTHING else value


def _count(value: str) -> int | None:
    found = re.match(r"(\d{1,15})(?:x| MiB)?$", value)
    return int(found[1]) if found else None


def _action(value: str) -> str | None:
    """What is to be done, of which ``None`` is an answer."""
    return value if value == "None" else _text(value)


def _enabled(value: str) -> bool | None:
    return {"Enabled": True, "Disabled": False, "Yes": True, "No": False}.get(value)


_READ: tuple[tuple[str, _Path, Callable[[str], Any]], ...] = (
    ("model", ("Product Name",), _text), ("uuid", ("GPU UUID",), _text),
    ("persistence_mode", ("Persistence Mode",), _enabled), ("compute_mode", ("Compute Mode",), _text),
    ("mig", ("MIG Mode", "Current"), _enabled), ("memory_mib", ("FB Memory Usage", "Total"), _count),
    ("pcie_gen", ("PCI", "GPU Link Info", "PCIe Generation", "Current"), _count),
    ("pcie_gen_max", ("PCI", "GPU Link Info", "PCIe Generation", "Max"), _count),
    ("pcie_width", ("PCI", "GPU Link Info", "Link Width", "Current"), _count),
    ("pcie_width_max", ("PCI", "GPU Link Info", "Link Width", "Max"), _count),
    ("numa_node", ("GPU Numa Node ID",), _count), ("numa_node", ("PCI", "GPU Numa Node ID"), _count),
    ("recovery_action", ("GPU Recovery Action",), _action),
    ("sram_threshold_exceeded", ("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"), _enabled),
    ("fabric_state", ("Fabric", "State"), _text), ("fabric_status", ("Fabric", "Status"), _text),
    ("ecc_enabled", ("ECC Mode", "Current"), _enabled), ("ecc_enabled", ("Ecc Mode", "Current"), _enabled),
    ("retired_single_bit", ("Retired Pages", "Single Bit ECC"), _count),
    ("retired_double_bit", ("Retired Pages", "Double Bit ECC"), _count),
    ("retirement_pending", ("Retired Pages", "Pending Page Blacklist"), _enabled),
    ("retirement_pending", ("Retired Pages", "Pending"), _enabled),
    ("remapped_correctable", ("Remapped Rows", "Correctable Error"), _count),
    ("remapped_uncorrectable", ("Remapped Rows", "Uncorrectable Error"), _count),
    ("remapping_pending", ("Remapped Rows", "Pending"), _enabled),
    ("remapping_failed", ("Remapped Rows", "Remapping Failure Occurred"), _enabled),
)  # fmt: skip
"""Field, path below the GPU, how its value is read; the first path of a field that is there counts."""

_FABRIC_HEALTH, _OWN = ("Fabric", "Health"), "Partition Assigned"
"""The fabric's health, and its line that tells of a choice of the administrator."""
_WELL = frozenset({"Healthy", "Full", "False", "Not Supported", *_NOTHING})
_LOST = frozenset({"GPU is lost", "GPU requires reset"})
_FEW = 5
"""Values that are errors from which on it is the GPU that cannot be read, and not one sensor."""
_UNCORRECTABLE = re.compile(r"[SD]RAM Uncorrectable(?: (?:Parity|SEC-DED))?$")
_ECC = frozenset({"ECC Errors", "Ecc Errors"})


def _fields(told: Mapping[_Path, str]) -> dict[str, Any]:
    """The fields of a Gpu."""
    fields: dict[str, Any] = {}
    for field, path, convert in _READ:
        if path in told and fields.get(field) is None:
            fields[field] = convert(told[path])
    fields["reset_required"] = _reset_required(told)
    fields["unreadable"] = _unreadable(told)
    fields["fabric_problems"] = _fabric_problems(told)
    fields["ecc_uncorrected"] = _uncorrected(told, "Volatile")
    fields["ecc_uncorrected_ever"] = _uncorrected(told, "Aggregate")
    reasons = {path[-1]: value for path, value in told.items() if path[0] in _SLOWDOWNS}
    if reasons:
        fields["slowdowns"] = [name for name, value in reasons.items() if value == "Active" and name not in _IDLE]
    return fields


def _reset_required(told: Mapping[_Path, str]) -> bool | None:
    """True if the driver wants the GPU to be reset (up to 565; later releases say so as the recovery action)."""
    answers = [_enabled(value) for path, value in told.items() if path[0] == "GPU Reset Status"]
    known = [answer for answer in answers if answer is not None]
    return any(known) if known else None


def _fabric_problems(told: Mapping[_Path, str]) -> list[str] | None:
    """The lines of the fabric's health that are not well (``Bandwidth: Degraded``); None when none has a value."""
    lines = {
        path[-1]: value
        for path, value in told.items()
        if path[:2] == _FABRIC_HEALTH and path[-1] != _OWN and value != "N/A"
    }
    return [f"{name}: {value}" for name, value in lines.items() if value not in _WELL] if lines else None


def _unreadable(told: Mapping[_Path, str]) -> str | None:
    """The error that is in place of the GPU's values; None when they can be read."""
    lost = next((value for value in told.values() if value in _LOST), None)
    told_values = [value for value in told.values() if value != "N/A"]
    errors = sum(value == "Unknown Error" for value in told_values)
    return lost or ("Unknown Error" if errors >= _FEW and errors * 2 >= len(told_values) else None)


def _uncorrected(told: Mapping[_Path, str], period: str) -> int | None:
    """Errors that ECC could not correct, over all memories; old releases print a ``Total`` beside the parts."""
    parts: list[int | None] = []
    total: int | None = None
    for path, value in told.items():
        if path[0] not in _ECC or period not in path[1:2]:
            continue
        if "Double Bit" in path and path[-1] == "Total":
            total = _count(value)
        elif "Double Bit" in path or _UNCORRECTABLE.match(path[-1]):
            parts.append(_count(value))
    known = [count for count in parts if count is not None]
    return total if total is not None else sum(known) if known else None
