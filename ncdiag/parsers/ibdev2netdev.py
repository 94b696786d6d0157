"""``ibdev2netdev``: which net device belongs to which port of an RDMA device.

Format: the script of NVIDIA's OFED: ``mlx5_0 port 1 ==> eth0 (Up)``; ``-v`` puts the PCI address in front, and the
board, the firmware and the state of the port between. The word at the end is the state of the net device, which may
be missing. Old releases draw the arrow as ``<===>`` and leave the state out. ``| column -t``
widens the blanks. Notes that somebody added after a ``#`` are not read.
"""

from __future__ import annotations

import re

from ncdiag.facts import scalars
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, not_again

KIND = "ibdev2netdev"
COMMANDS = ("ibdev2netdev",)
_HEAD = r"(?:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] )?[A-Za-z][\w.-]{0,63} {1,64}"
ANCHOR = _HEAD + r"(?:\([^)]{0,80}\) [^>]{0,160})?port {1,8}\d{1,3} {1,8}(?:\([A-Z]+ *\) {1,8})?(?:==>|<===>) {1,8}\S"
SIGNS = ("==>",)
_ROW = (
    r"\s*(?:(?P<bus>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) )?(?P<dev>[A-Za-z][\w.-]{0,63}) +(?:[^=<]{0,250} )?"
    r"port +(?P<port>\d{1,3}) +(?:\((?P<port_state>[A-Z]+) *\) +)?(?:==>|<===>) *(?P<netdev>[\w.:@-]{1,64})? *"
    r"(?:\((?P<state>\w+)\))?\s*(?:#.*)?$"
)


class _Ports(Reading):
    """The net device of each port, and the device of each net device."""

    def port(self, row: re.Match[str]) -> None:
        """One port a line."""
        if row["bus"]:
            self.observe("Hca", (row["dev"],), bus_id=scalars.bus_id(row["bus"]))
        state, key = rdma.port_state(row["port_state"] or ""), (row["dev"], int(row["port"]))
        self.observe("Port", key, netdev=row["netdev"], state=state)
        if row["netdev"]:
            running = {"up": True, "down": False}.get((row["state"] or "").lower())
            self.observe("Interface", (row["netdev"],), hca=row["dev"], running=running)

    def complete(self) -> bool:
        """All ports where nothing filters them."""
        whole = basics.unfiltered(self.section.command, "ibdev2netdev", ("-v",))
        return bool(self.found) and not self.unread and whole


ROWS = Rows(_Ports, Row(_ROW, _Ports.port, belongs=not_again), BLANK, ELISION, longest=512)
