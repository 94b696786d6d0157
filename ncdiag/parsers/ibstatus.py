"""``ibstatus``: the ports of the RDMA devices as /sys/class/infiniband has them.

Format: rdma-core, infiniband-diags/scripts/ibstatus: a header a port, then ``name:`` and what the file of /sys holds.
The default gid is entry 0 of the GID table. Text that begins inside a block is port 1 of `UNNAMED`. ``Fatal error:  No
devices`` is the whole answer where /sys/class/infiniband is missing, and ``device '*': sys files not found`` where it
is empty.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, never, not_again

KIND = "ibstatus"
COMMANDS = ("ibstatus",)
ANCHOR = (
    r"Infiniband device '[^']{1,64}' port \d{1,3} status:|Fatal error:  No devices$"
    r"|Fatal error:  device '\*': sys files not found|[ \t]{1,8}(?:default gid:[ \t]|phys state:[ \t]+\d: )"
)
_HEADER = r"\s*Infiniband device '([^']{1,64})' port (\d{1,3}) status:"


class _Ports(Reading):
    """An observation a port, and one of its GID 0; complete when no port was cut off and none left out."""

    def __init__(self, section: Section) -> None:
        """No port has begun."""
        super().__init__(section)
        self.start, self.place, self.values = 0, (rdma.UNNAMED, 1), dict[str, str]()
        self.whole = basics.unfiltered(section.command, "ibstatus")
        self.none = self.headed = False

    def header(self, found: re.Match[str]) -> None:
        """The next port."""
        self._port()
        self.headed = self.headed or not self.index
        self.whole = self.whole and (not self.index or "rate" in self.values)
        self.start, self.place, self.values = self.index, (found[1], int(found[2])), {}

    def value(self, found: re.Match[str]) -> None:
        """A name and what the file of /sys holds."""
        self.values.setdefault(found[1], found[2].strip())

    def no_device(self, _: re.Match[str]) -> bool:
        """The whole answer, where nothing filters it."""
        self.none = self.none or self.whole
        return self.none

    def end(self) -> None:
        """The last port; nothing at all where there are no devices."""
        self._port()
        if self.none:
            self.found.clear()
            self.unread.clear()

    def complete(self) -> bool:
        """There are no devices, or every port is there to its last line."""
        return self.none or (self.whole and not self.unread and "rate" in self.values and self.headed)

    def _port(self) -> None:
        if self.place[0] == rdma.UNNAMED and not self.values:
            return
        get = self.values.get
        self.observe(
            "Port",
            self.place,
            at=self.start,
            state=rdma.port_state(get("state", "")),
            physical_state=rdma.physical_state(get("phys state", "")),
            rate_gbps=basics.quantity(get("rate", "")),
            rate_text=get("rate"),
            lid=basics.number(get("base lid", "")),
            sm_lid=basics.number(get("sm lid", "")),
            link_layer=rdma.link_layer(get("link_layer", "")),
        )
        address = rdma.gid(get("default gid", ""))
        if address is not None:
            self.observe("Gid", (*self.place, 0), at=self.start, address=address, ip=rdma.mapped_ip(address))


ROWS = Rows(
    _Ports,
    Row(_HEADER, _Ports.header, belongs=not_again),
    Row(r"\s*(default gid|base lid|sm lid|state|phys state|rate|link_layer):(.*)$", _Ports.value),
    Row(r"\s*Fatal error:\s{1,4}(?:No devices|device '\*': sys files not found)", _Ports.no_device, belongs=never),
    BLANK,
    ELISION,
)
