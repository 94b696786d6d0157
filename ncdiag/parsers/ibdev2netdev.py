"""``ibdev2netdev``: which net device belongs to which port of an RDMA device.

Format: the script of NVIDIA's OFED: ``mlx5_0 port 1 ==> eth0 (Up)``; ``-v`` puts the PCI address in front, and the
board, the firmware and the state of the port between. The word at the end is the state of the net device, which may
be missing. Old releases draw the arrow as ``<===>`` and leave the state out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts import scalars
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "ibdev2netdev"
COMMANDS = ("ibdev2netdev",)
_HEAD = r"(?:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] )?[A-Za-z][\w.-]{0,63} "
ANCHOR = _HEAD + r"(?:\([^)]{0,80}\) [^>]{0,160})?port \d{1,3} (?:\([A-Z]+ *\) )?(?:==>|<===>) {1,2}\S"
_ROW = re.compile(
    r"\s*(?:(?P<bus>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) )?(?P<dev>[A-Za-z][\w.-]{0,63}) (?:[^=<]{0,250} )?"
    r"port (?P<port>\d{1,3}) (?:\((?P<port_state>[A-Z]+) *\) )?(?:==>|<===>) *(?P<netdev>[\w.:@-]{1,64})? *"
    r"(?:\((?P<state>\w+)\))?\s*$"
)


def continues(lines: Sequence[str], line: str) -> bool:
    """Further ports; the first one again is another host's output."""
    return not line.strip() or (_ROW.match(line) is not None and line != lines[0]) or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """The net device of each port, and the device of each net device."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        row = _ROW.match(line) if len(line) < 512 else None  # noqa: PLR2004  (one port a line)
        if row:
            if row["bus"]:
                found.append(observe(section, index, "Hca", (row["dev"],), bus_id=scalars.bus_id(row["bus"])))
            state, key = rdma.port_state(row["port_state"] or ""), (row["dev"], int(row["port"]))
            found.append(observe(section, index, "Port", key, netdev=row["netdev"], state=state))
            if row["netdev"]:
                running = {"up": True, "down": False}.get((row["state"] or "").lower())
                found.append(observe(section, index, "Interface", (row["netdev"],), hca=row["dev"], running=running))
        elif line.strip():
            unread.append(index)
    whole = bool(found) and not unread and basics.unfiltered(section.command, "ibdev2netdev", ("-v",))
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=whole)
