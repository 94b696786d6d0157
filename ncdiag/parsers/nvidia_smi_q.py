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

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import basics
from ncdiag.parsers import _gpu_list, _smi_xml
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never

KIND = "nvidia_smi_q"
COMMANDS: tuple[str, ...] = ("nvidia-smi -q", "nvidia-smi --query")
_ADDRESS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
ANCHOR = rf"={{4,40}}NVSMI LOG={{4,40}}[ \t]*$|GPU {_ADDRESS}[ \t]*$"
ANCHOR += r"|[ \t]{0,60}(?:ECC Errors|Ecc Errors|Remapped Rows|Retired Pages|GPU Reset Status)[ \t]*$"
ANCHOR += r"|<!DOCTYPE nvidia_smi_log |<nvidia_smi_log>[ \t]*$"
ANCHOR += r"|[ \t]{4,8}(?:Fabric|Clocks (?:Event|Throttle) Reasons|Remapped Rows|Retired Pages)[ \t]*$"
"""Groups that people cut out are announced by their names."""

_TROUBLE = lazy_regex(r"\s*Unable to determine the device handle for ")
"""In place of what is told of a GPU: left to the catalogue of messages."""
_XML = lazy_regex(r"\s*<(?:\?xml |!DOCTYPE nvidia_smi_log |nvidia_smi_log>)")
_VALUE = r"(?P<indent>\s{0,60})(?P<name>\S.{0,78}?)\s{0,60}:\s(?P<value>.{0,300})$|\s{0,60}\S.{0,78}?\s{0,60}:$"
_GROUP = r"(?P<indent>\s{4,60})(?P<name>(?:[A-Z]|vGPU)[\w /()&.-]{1,60})$"
_NOTHING = frozenset({"N/A", "None", "", "Not Found", "Unknown", "Unknown Error", "[N/A]", "[Not Supported]"})
_SLOWDOWNS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
_IDLE = frozenset({"Idle", "Applications Clocks Setting", "Sync Boost"})
"""Reasons that hold nothing back that somebody would miss."""
_DEPTH = 12
_INDENT = 4
"""Blanks before what is told of a GPU; none come before what is told of the host."""

_Path = tuple[str, ...]


def continues(lines: Sequence[str], line: str) -> bool:
    """Values, groups, GPUs and blank lines, or the elements of the XML form."""
    return _form(lines[0] or line).continues(lines, line)


def parse(section: Section) -> Parsed:
    """GPUs by index where all are listed, else by bus id; what is said of the host above them."""
    return _form(section.lines[0] if section.lines else "").parse(section)


def _form(first: str) -> Rows[_Gpus]:
    return _XML_ROWS if _XML.match(first) else _ROWS


class _Gpus(Reading):
    """The GPUs of a section with their values by path (``("ECC Mode", "Current")``)."""

    def __init__(self, section: Section) -> None:
        """No GPU has begun."""
        super().__init__(section)
        self.common: dict[str, str] = {}
        self.gpus: list[tuple[int, str | None, dict[_Path, str]]] = []
        self.groups: list[tuple[int, str]] = []
        self.elided = self.whole = False

    def gpu(self, found: re.Match[str]) -> None:
        """The line that begins a GPU."""
        self._begin(found["address"])

    def value(self, found: re.Match[str]) -> bool:
        """``name : value`` of the group above; False for trouble in place of what is said of a GPU."""
        if _TROUBLE.match(self.line):
            return False
        if found["name"] is not None:
            self._nest(len(found["indent"]))
            if len(found["indent"]) == _INDENT:
                self._part(found["name"])
            self._put(found["name"], found["value"].strip())
        return True

    def group(self, found: re.Match[str]) -> None:
        """A group, of which the values are indented more."""
        self._nest(len(found["indent"]))
        self._part(found["name"].strip())
        if len(self.groups) < _DEPTH:
            self.groups.append((len(found["indent"]), found["name"].strip()))

    def elision(self, _: object) -> None:
        """GPUs may have been left out."""
        self.elided = True

    def element(self, found: re.Match[str]) -> None:
        """A line of the XML form."""
        group, name = found["group"], found["name"]
        if name:
            self._put(_smi_xml.word(name), found["value"].strip())
        elif group and self.line.lstrip().startswith("</"):
            self.groups = self.groups[:-1]
        elif group == "gpu" and found["id"]:
            self._begin(found["id"])
        elif group and not self.line.rstrip().endswith("/>") and self.gpus and len(self.groups) < _DEPTH:
            self.groups.append((0, _smi_xml.word(group)))

    def shortened(self, _: object) -> bool:
        """What is not an element, below lines that were left out."""
        return self.elided

    def end(self) -> None:
        """GPUs and host, or that there is no GPU; the list is whole when as many as are attached were read."""
        none = _gpu_list.none_found(self.section)
        if none:
            self.found += none
            self.unread.clear()
            return
        attached = basics.number(self.common.get("Attached GPUs", ""))
        self.whole = attached is not None and attached == len(self.gpus) and not self.elided
        driver, stamp, cuda = (
            _text(self.common.get(name, "")) for name in ("Driver Version", "Timestamp", "CUDA Version")
        )
        for number, (at, address, told) in enumerate(self.gpus):
            key = number if self.whole or address is None else address
            fields = {**_fields(told), "bus_id": bus_id(address or ""), "driver": driver, "cuda": cuda}
            self.observe("Gpu", (key,), at=at, **fields)
        if any((attached is not None, driver, stamp)):
            self.observe("Host", at=0, gpus_attached=attached, gpus_queried=stamp, driver=driver)

    def complete(self) -> bool:
        """All GPUs of the host."""
        options = ("-q", "--query", "-x", "--xml-format")
        return self.whole and basics.unfiltered(self.section.command, "nvidia-smi", options)

    def _begin(self, address: str) -> None:
        self.gpus.append((self.index, bus_id(address) or address, {}))
        self.groups = []

    def _put(self, name: str, value: str) -> None:
        path = (*(group for _, group in self.groups), name)
        if not self.gpus:
            self.common.setdefault(name, value)
        elif path[-1] == "retired_count":
            self.gpus[-1][2].setdefault(path[:-1], value)
        else:
            self.gpus[-1][2].setdefault(path, value)

    def _part(self, name: str) -> None:
        """Parts that a filter left, without the lines that name the GPUs: one for each GPU, in their order."""
        if self.groups or any(address for _, address, _ in self.gpus):
            return
        if not self.gpus or name in {path[0] for path in self.gpus[-1][2]}:
            self.gpus.append((self.index, None, {}))

    def _nest(self, indent: int) -> None:
        while self.groups and self.groups[-1][0] >= indent:
            self.groups.pop()


_ROWS = Rows(
    _Gpus,
    BLANK,
    Row(r"=+NVSMI LOG=+\s*$", belongs=never),
    Row(rf"GPU (?P<address>{_ADDRESS})\s*$", _Gpus.gpu),
    Row(_VALUE, _Gpus.value),
    Row(_GROUP, _Gpus.group),
    Row(r"--\s*$"),  # what grep prints between the parts that it shows (nvidia-smi -q | grep -A3 Fabric)
    Row(basics.is_elision, _Gpus.elision),
)
_XML_ROWS = Rows(
    _Gpus,
    BLANK,
    Row(_smi_xml.ELEMENT, _Gpus.element),
    Row(basics.is_elision, _Gpus.elision),
    Row(r"", _Gpus.shortened, belongs=never),
)


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
    ("bar1_mib", ("BAR1 Memory Usage", "Total"), _count),
    ("pcie_gen", ("PCI", "GPU Link Info", "PCIe Generation", "Current"), _count),
    ("pcie_gen_max", ("PCI", "GPU Link Info", "PCIe Generation", "Max"), _count),
    ("pcie_width", ("PCI", "GPU Link Info", "Link Width", "Current"), _count),
    ("pcie_width_max", ("PCI", "GPU Link Info", "Link Width", "Max"), _count),
    ("numa_node", ("GPU Numa Node ID",), _count), ("numa_node", ("PCI", "GPU Numa Node ID"), _count),
    ("recovery_action", ("GPU Recovery Action",), _action),
    ("sram_threshold_exceeded", ("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"), _enabled),
    ("license", ("vGPU Software Licensed Product", "License Status"), _text),
    ("license", ("GRID Licensed Product", "License Status"), _text),
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
_UNCORRECTABLE = lazy_regex(r"[SD]RAM Uncorrectable(?: (?:Parity|SEC-DED))?$")
_ECC = frozenset({"ECC Errors", "Ecc Errors"})


_VIRTUALIZATION = ("GPU Virtualization Mode", "Virtualization Mode")
"""``Pass-Through``: the machine has the whole GPU, whose CUDA needs no licence; ``VGPU``: a virtual one."""


def _fields(told: Mapping[_Path, str]) -> dict[str, Any]:
    """The fields of a Gpu."""
    fields: dict[str, Any] = {}
    for field, path, convert in _READ:
        if path in told and fields.get(field) is None:
            fields[field] = convert(told[path])
    if told.get(_VIRTUALIZATION) == "Pass-Through":
        fields["license"] = None
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
