"""``ibstatus``: the ports of the RDMA devices as /sys/class/infiniband has them.

Format: rdma-core, infiniband-diags/scripts/ibstatus: a header a port, then ``name:`` and what the file of /sys holds.
The default gid is entry 0 of the GID table. Text that begins inside a block is port 1 of `UNNAMED`. ``Fatal error:  No
devices`` is the whole answer where /sys has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "ibstatus"
COMMANDS = ("ibstatus",)
ANCHOR = r"Infiniband device '[^']{1,64}' port \d{1,3} status:|[ \t]{1,8}(?:default gid:[ \t]|phys state:[ \t]+\d: )"
_HEADER = re.compile(r"\s*Infiniband device '([^']{1,64})' port (\d{1,3}) status:")
_NONE = re.compile(r"\s*Fatal error:\s{1,4}No devices")
_VALUE = re.compile(r"\s*(default gid|base lid|sm lid|state|phys state|rate|link_layer):(.*)$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Values and further ports with blank lines between; the first port again is another host's output."""
    if _HEADER.match(line):
        return line != lines[0]
    return not line.strip() or _VALUE.match(line) is not None or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation a port, and one of its GID 0; complete when no port was cut off and none left out."""
    found: list[Observation] = []
    unread: list[int] = []
    whole = basics.unfiltered(section.command, "ibstatus")
    if whole and any(_NONE.match(line) for line in section.lines):
        return Parsed(complete=True)
    start, place, values = 0, (rdma.UNNAMED, 1), dict[str, str]()
    for index, line in enumerate(section.lines):
        header, value = _HEADER.match(line), _VALUE.match(line)
        if header:
            found += _port(section, start, place, values)
            whole = whole and (not index or "rate" in values)
            start, place, values = index, (header[1], int(header[2])), {}
        elif value:
            values.setdefault(value[1], value[2].strip())
        elif line.strip():
            unread.append(index)
            whole = False
    found += _port(section, start, place, values)
    whole = whole and "rate" in values and bool(_HEADER.match(section.lines[0]))
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=whole)


def _port(section: Section, index: int, place: tuple[str, int], values: dict[str, str]) -> list[Observation]:
    if place[0] == rdma.UNNAMED and not values:
        return []
    get = values.get
    port = observe(
        section,
        index,
        "Port",
        place,
        state=rdma.port_state(get("state", "")),
        physical_state=rdma.physical_state(get("phys state", "")),
        rate_gbps=basics.quantity(get("rate", "")),
        rate_text=get("rate"),
        lid=basics.number(get("base lid", "")),
        sm_lid=basics.number(get("sm lid", "")),
        link_layer=rdma.link_layer(get("link_layer", "")),
    )
    address = rdma.gid(get("default gid", ""))
    if address is None:
        return [port]
    return [port, observe(section, index, "Gid", (*place, 0), address=address, ip=rdma.mapped_ip(address))]
