"""``lspci`` with any number of ``-v``: devices, link width and speed now and at most, ACS controls, ATS.

Source of the format: pciutils lspci.c, ls-caps.c (cap_express: ``LnkCap:``, ``LnkSta:``), ls-ecaps.c (cap_acs:
``ACSCtl:``; cap_ats: ``ATSCtl:``). Without root the capabilities read ``<access denied>``, so that link and ACS stay
unknown. ``-mm`` prints a row of quoted words, ``-vmm`` a block of ``Slot:``, ``Class:``, ``Vendor:`` and so on
(lspci.c, show_machine); ``-n`` prints numbers of classes (pci.ids). The tree of ``-t`` is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.model import PciDevice
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.facts.vocabulary.pci import LENT, is_amd_gpu, is_nvidia_gpu
from ncdiag.formats.basics import is_elision, unfiltered

KIND = "lspci"
COMMANDS: tuple[str, ...] = ("lspci",)
EVENTS = {"gpu-window-unassigned": {"pci": "str"}, "gpu-answers-nothing": {"pci": "str"}}
"""The events of a GPU whose memory window has no address and of one that does not answer, with their field types."""
_BDF = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
ANCHOR = (
    rf"{_BDF} (?:\"|(?:Class )?[A-Za-z0-9][\w ,/&.()-]{{1,60}}(?: \[[0-9a-f]{{4}}\])?: \S)"
    rf"|(?:{_BDF}:?[ \t]{{1,8}})?[ \t]{{0,40}}ACSCtl:[ \t]+SrcValid[+-][ \t]"
    rf"|Slot:\t(?:{_BDF})[ \t]*$|-\[[0-9a-f]{{4}}:[0-9a-f]{{2}}(?:-[0-9a-f]{{2}})?\]-[+-]"
)
STRUCTURE = "-0abcdef"

_DEVICE = lazy_regex(rf"(?P<bdf>{_BDF})\s+(?P<text>(?P<class>[^:\"]{{2,70}}?)(?: \[[0-9a-f]{{4}}\])?: \S.*)$")
_ROW = lazy_regex(rf"(?P<bdf>{_BDF}) (?P<rest>\"[^\"]{{1,80}}\" \".{{1,400}})$")
_WORD = lazy_regex(r"\"([^\"]{0,160})\"|-r([0-9a-f]{2})\b|-p[0-9a-f]{2}\b")
_FIELD = lazy_regex(
    r"(Slot|Class|Vendor|Device|SVendor|SDevice|Rev|ProgIf|PhySlot|Driver|Module|NUMANode|IOMMUGroup):\t(.{0,200})$"
)
_SILENT = lazy_regex(r".*\(rev ff\)(?: \(prog-if [^()]{1,60}\))?\s*$")
"""A device whose configuration space reads as all ones: it does not answer (PCI Express base spec., 2.3.2)."""
_ASLEEP = lazy_regex(r"Mobile|Max-Q|Laptop")
"""GPUs that a laptop switches off while nothing uses them."""
_TREE = lazy_regex(r"[ |]{0,80}[-+\\][-+]?[\[0-9a-f]|[ |]{2,80}$")
_CLASSES = {
    "0300": "VGA compatible controller", "0302": "3D controller", "0200": "Ethernet controller",
    "0207": "Infiniband controller", "0604": "PCI bridge", "0600": "Host bridge", "0680": "Bridge",
    "1200": "Processing accelerators", "0380": "Display controller",
}  # fmt: skip
"""Names of the classes that matter here, for ``lspci -n``."""
_LINK = lazy_regex(r"\s*Lnk(?P<what>Cap|Sta):\s")
_SPEED = lazy_regex(r"Speed (\d{1,3}(?:\.\d)?)GT/s")
_WIDTH = lazy_regex(r"Width x(\d{1,2})\b")
_ACS = lazy_regex(rf"(?:(?P<bdf>{_BDF}):?\s)?\s*ACSCtl:\s+(?P<controls>(?:[A-Za-z]+[+-]\s*){{1,9}})")
_ONE = lazy_regex(rf"\s-s ?(?P<bdf>{_BDF})(?=\s|$)")
"""A command that asks about one function, whose address a grep for the controls leaves out."""
_REDIRECTS = lazy_regex(r"(?:SrcValid|ReqRedir|CmpltRedir|UpstreamFwd)\+")
_ATS = lazy_regex(r"\s*ATSCtl:\s+Enable(?P<on>[+-])")
_NUMA = lazy_regex(r"\s*NUMA node: (\d{1,3})\s*$")
_GROUP = lazy_regex(r"\s*IOMMU group: (\d{1,5})\s*$")
_DRIVER = lazy_regex(r"\s*Kernel driver in use: ([\w-]{1,40})\s*$")
_UNPLACED = lazy_regex(r"\s*(?:Region \d: )?Memory at <unassigned> \(64-bit, prefetchable\)")
"""A window of the large kind without an address; small ones, of ports and of the ROM, work without one."""
_READ = lazy_regex(r"\s*MaxPayload \d{2,5} bytes, MaxReadReq (\d{2,5}) bytes")
_TOLD = (("numa_node", _NUMA), ("iommu_group", _GROUP), ("driver", _DRIVER), ("max_read_request", _READ))
_DETAIL = lazy_regex(
    r"[ \t]|(?:Subsystem|Control|Status|Latency|Interrupt|NUMA node|IOMMU group|Region \d|Expansion ROM|Flags"
    r"|Capabilities|Bus|Memory|I/O|Prefetchable|Physical Slot|DeviceName|Lnk\w+|Dev\w+|ACS\w+|AER\w+|[UC]E\w+"
    r"|BridgeCtl|Secondary|Kernel (?:driver|modules))[: ]"
)
_FLAT = lazy_regex(
    r"\S{2,40}[+-](?:[ ,]|$)|[A-Z][\w ./-]{1,40}(?:: |:\t|:$|=)|\[[A-Z][A-Z0-9]\] |Max(?:Payload| snoop| no snoop) "
    r"|End$|EmergencyPowerReduction |Transmit Margin"
    r"|(?:Initial VFs|VF offset|BAR \d|PortCommonModeRestoreTime|T_CommonMode)"
)
"""Details that are known by their indentation alone where it was not lost."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Device lines, the details below them (also where a paste lost the indentation), blank lines between devices."""
    if not line.strip():
        return bool(lines) and bool(lines[-1].strip())
    if any(p.match(line) for p in (_DEVICE, _DETAIL, _ROW, _FIELD, _ACS)) or is_elision(line):
        return True
    if _TREE.match(lines[0] or line):
        return _TREE.match(line) is not None
    flat = len(lines) > 1 and _DETAIL.match(lines[1]) is not None and not lines[1][:1].isspace()
    return flat and _FLAT.match(line) is not None


def _is_silent(device: PciDevice) -> bool:
    """Is it a GPU that does not answer? A virtual machine that holds one may switch it off."""
    text = device.description or ""
    return (
        bool(_SILENT.match(text)) and is_nvidia_gpu(device) and not _ASLEEP.search(text) and device.driver not in LENT
    )


def parse(section: Section) -> Parsed:
    """Devices by bus id; ACS controls without a device (grep) make a fact of the host.

    Those of a loop, or of a command for one function, are of the device that is named.
    """
    asked = _ONE.search(section.command or "")
    devices: list[tuple[int, str, dict[str, Any]]] = []
    loose: list[tuple[int, bool]] = []
    named: list[tuple[int, str, bool]] = []
    unread: list[int] = []
    elided = False
    unplaced: dict[int, int] = {}  # by the device, the line of its first window
    for index, line in enumerate(section.lines):
        acs = _ACS.match(line)
        device = None if acs else _device(line)
        if device:
            devices.append((index, *device))
        elif _TREE.match(line):
            unread.append(index)
        elif acs and (address := acs["bdf"] or (asked["bdf"] if asked and not devices else None)):
            named.append((index, address, _redirects(acs["controls"])))
        elif devices:
            _detail(line, devices[-1][2])
            if _UNPLACED.match(line):
                unplaced.setdefault(devices[-1][0], index)
        elif acs:
            loose.append((index, _redirects(acs["controls"])))
        elif line.strip() and not _DETAIL.match(line):
            unread.append(index)
        elided = elided or is_elision(line)
    found = [observe(section, index, "PciDevice", (address,), **fields) for index, address, fields in devices]
    found += [
        observe(section, index, "PciDevice", (address,), acs_redirects=on)
        for index, text, on in named if (address := bus_id(text)) is not None
    ]  # fmt: skip
    found += _faults(section, devices, unplaced)
    if loose:
        found.append(_of_host(section, loose))
    whole = bool(devices) and devices[0][1].endswith(":00:00.0") and not elided and not unread
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=whole and _all_devices(section.command))


def _faults(
    section: Section, devices: Sequence[tuple[int, str, dict[str, Any]]], unplaced: Mapping[int, int]
) -> Iterator[Observation]:
    """Events of GPUs that do not answer, or that have a window without an address: ``unplaced`` has its line."""
    for index, address, fields in devices:
        device = PciDevice(host="", bus_id=address, **fields)
        if _is_silent(device):
            yield _fault(section, index, "gpu-answers-nothing", "app", address)
        if index in unplaced and (is_nvidia_gpu(device) or is_amd_gpu(device)):
            yield _fault(section, unplaced[index], "gpu-window-unassigned", "kernel", address)


def _fault(section: Section, index: int, event: str, origin: str, address: str) -> Observation:
    return observe(
        section, index, "Event", event=event, origin=origin, kind="cause", text=section.lines[index].strip()[:200],
        order=section.number(index), count=1, fields={"pci": address},
    )  # fmt: skip


def _device(line: str) -> tuple[str, dict[str, Any]] | None:
    """Bus id and fields of the device that a line begins, in any of the layouts."""
    plain, row, field = _DEVICE.match(line), _ROW.match(line), _FIELD.match(line)
    if plain:
        address, fields = bus_id(plain["bdf"]), _described(plain["class"].strip(), plain["text"].strip())
    elif row:
        address, fields = bus_id(row["bdf"]), _quoted(row["rest"])
    else:
        address, fields = bus_id(field[2].strip()) if field and field[1] == "Slot" else None, {}
    return (address, fields) if address else None


def _described(kind: str, text: str) -> dict[str, Any]:
    kind = _CLASSES.get(kind, kind)
    return {"description": text, "device_class": kind, "is_bridge": kind.endswith("bridge")}


def _quoted(rest: str) -> dict[str, Any]:
    """A row of ``-mm``: class, vendor and device in quotes, then options and the subsystem."""
    words = [found[1] for found in _WORD.finditer(rest) if found[1] is not None]
    revision = next((f" (rev {found[2]})" for found in _WORD.finditer(rest) if found[2]), "")
    return _described(words[0], f"{words[0]}: {' '.join(words[1:3])}{revision}")


def _field(name: str, value: str, fields: dict[str, Any]) -> None:
    """A line of ``-vmm``; the description is put together from its parts."""
    if name == "Class":
        fields.update(_described(value, f"{value}:"))
    elif name in {"Vendor", "Device"} and "description" in fields:
        fields["description"] += f" {value}"
    elif name == "Rev" and "description" in fields:
        fields["description"] += f" (rev {value})"
    elif name == "Driver":
        fields["driver"] = value
    elif name in {"NUMANode", "IOMMUGroup"} and value.isdigit() and len(value) < 6:  # noqa: PLR2004  (a small number)
        fields["numa_node" if name == "NUMANode" else "iommu_group"] = int(value)


def _of_host(section: Section, loose: Sequence[tuple[int, bool]]) -> Observation:
    """The first line with a control that is on, else the first."""
    index, on = next(((i, state) for i, state in loose if state), loose[0])
    return observe(section, index, "Host", acs_redirects=on)


def _all_devices(command: str | None) -> bool:
    return unfiltered(command, "lspci", ("-v", "-vv", "-vvv", "-nn", "-vvvv", "-D", "-k", "-nnk", "-vvnn"))


def _detail(line: str, fields: dict[str, Any]) -> None:
    """Take what an indented line tells of the device above it; the first of its kind counts."""
    link, field = _LINK.match(line), _FIELD.match(line)
    if field:
        _field(field[1], field[2].strip(), fields)
        return
    if link:
        end = "_max" if link["what"] == "Cap" else ""
        speed, width = _SPEED.search(line), _WIDTH.search(line)
        if speed:
            fields.setdefault(f"speed_gts{end}", float(speed[1]))
        if width:
            fields.setdefault(f"width{end}", int(width[1]))
        return
    acs = _ACS.match(line)
    if acs:
        fields.update(acs_controls=" ".join(acs["controls"].split()), acs_redirects=_redirects(acs["controls"]))
        return
    if ats := _ATS.match(line):
        fields.setdefault("ats", ats["on"] == "+")
        return
    for name, pattern in _TOLD:
        told = pattern.match(line)
        if told:
            fields.setdefault(name, told[1] if name == "driver" else int(told[1]))


def _redirects(controls: str) -> bool:
    """Whether a control is on that checks peer requests or sends them up to the root (PCI Express base spec., 6.12)."""
    return _REDIRECTS.search(controls) is not None
