"""``mlnx_qos``: what a RoCE interface trusts, which priorities have flow control (PFC), and the traffic class in force.

Format: NVIDIA's mlnx-tools, ``mlnx_qos -i <interface>``: ``DCBX mode``, ``Priority trust state``, ``dscp2prio mapping``
with a line a priority, ``PFC configuration`` with the rows ``priority``, ``enabled`` and ``buffer``, then the traffic
classes, which are not read. The interface is in the command only, or in the heading of a script; else it is
`UNNAMED`. ``Global tclass=N`` is what the driver of NVIDIA's OFED keeps in ``<device>/tc/<port>/traffic_class`` of
/sys/class/infiniband (mlx5_ib main_ext.c); ``cma_roce_tos`` prints the one of connections by the RDMA CM, not read.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.formats.rdma import UNNAMED

KIND = "mlnx_qos"
COMMANDS = ("mlnx_qos", "cat traffic_class")
ANCHOR = (
    r"DCBX mode: (?:OS|Firmware) controlled|Priority trust state: (?:dscp|pcp|both)\s*$|PFC configuration:\s*$"
    r"|mlnx_qos [^|]{0,80}DCBX mode: |=+ ?show configuration for device \S+ / \S|Global tclass=\d{1,3}\s*$"
)
_LINE = lazy_regex(
    r"\s*(?:DCBX mode:|Priority trust state:|default priority:|dscp2prio mapping:|prio:\d|Receive buffer size"
    r"|Cable len:|PFC configuration:|priority\s+\d|(?:enabled|buffer)\s+[\d\s]+$|tc: ?\d|priority:\s"
    r"|Buffers total size|ECN Enabled |QOS for |cma_roce_tos: |Global tclass="
    r"|[A-Za-z0-9 ]{3,40} not supported on your system)"
)
_INTERFACE = lazy_regex(r"\s-i\s*([\w.@-]{1,64}?)(?=DCBX mode|[\s;|&\"']|$)")
_HEADING = lazy_regex(r"=+ ?show configuration for device ([\w.@-]{1,64}) / ([\w.-]{1,64}?)=*\s*$")
_CLASS = lazy_regex(r"(?:/infiniband/([\w.-]{1,64})/tc/(\d{1,3})/traffic_class = )?Global tclass=(\d{1,3})\b")
_CLASS_OF = lazy_regex(r"/infiniband/([\w.-]{1,64})/tc/(\d{1,3})/traffic_class")
_ONCE = ("DCBX mode:", "Priority trust state:", "PFC configuration:")
"""What is printed once for each interface."""
_DCBX = lazy_regex(r"DCBX mode: ?(OS controlled|Firmware controlled)")
_TRUST = lazy_regex(r"Priority trust state: ?(dscp|pcp|both)")
_ENABLED = lazy_regex(r"enabled\s{1,12}([01])" + r"\s{1,8}([01])" * 7)
_DSCP = lazy_regex(r"prio:(\d) dscp:((?:\d\d,){1,64})")
_LINE_LIMIT = 4096
_PRIORITIES, _CODES = 8, 64


def continues(lines: Sequence[str], line: str) -> bool:
    """The lines that the tool prints, blank ones between; a second mode line is the next interface."""
    if not line.strip() or basics.is_elision(line):
        return True
    start = next((text for text in _ONCE if line.lstrip().startswith(text)), None)
    again = start is not None and any(start in old for old in lines)
    return len(line) < _LINE_LIMIT and _LINE.match(line) is not None and not again


def parse(section: Section) -> Parsed:
    """One observation of the interface, and one of each port whose traffic class is printed."""
    lines = [line if len(line) < _LINE_LIMIT else "" for line in section.lines]
    text = "\n".join(lines)
    heading = next((found for found in map(_HEADING.search, lines) if found), None)
    named = _INTERFACE.search(f"{section.command or ''} ") or _INTERFACE.search(text)
    dcbx, trust, enabled = _DCBX.search(text), _TRUST.search(text), _ENABLED.search(text)
    classes = _classes(section, lines, heading[2] if heading else None)
    if not (dcbx or trust or enabled):
        read = {o.span.line for o in classes}
        return Parsed(observations=classes, unread=tuple(i for i in range(len(lines)) if section.number(i) not in read))
    name = heading[1] if heading else named[1] if named else UNNAMED
    start = next((index for index, line in enumerate(lines) if line.strip()), 0)
    found = observe(
        section, start, "Interface", (name,), hca=heading[2] if heading else None, dcbx=dcbx[1] if dcbx else None,
        trust=trust[1] if trust else None, dscp_default=_default_mapping(text),
        pfc=[priority for priority, flag in enumerate(enabled.groups()) if flag == "1"] if enabled else None,
    )  # fmt: skip
    unread = [i for i, line in enumerate(section.lines) if line.strip() and i != start and not _LINE.match(line)]
    return Parsed(observations=(found, *classes), unread=tuple(unread))


def _classes(section: Section, lines: Sequence[str], device: str | None) -> tuple[Observation, ...]:
    """The traffic classes; the device is that of the path on the line, of the command, of the heading."""
    told = _CLASS_OF.search(section.command or section.prefix)
    device, port = (told[1], int(told[2])) if told else (device or UNNAMED, 1)
    rows = [(index, found) for index, line in enumerate(lines) if (found := _CLASS.search(line))]
    return tuple(
        observe(section, i, "Port", (row[1] or device, int(row[2] or port)), traffic_class=int(row[3]))
        for i, row in rows
    )


def _default_mapping(text: str) -> bool | None:
    """Is DSCP / 8 the priority throughout? None when the mapping is not shown whole."""
    mapping = {int(code): int(p) for p, codes in _DSCP.findall(text) for code in codes.strip(",").split(",")}
    if len(mapping) < _CODES:
        return None
    return all(code // (_CODES // _PRIORITIES) == priority for code, priority in mapping.items())
