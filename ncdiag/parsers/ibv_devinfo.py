"""``ibv_devinfo`` and ``ibv_devinfo -v``: devices, ports, MTU, and with -v the lane rate and the GID table.

Format: rdma-core, libibverbs/examples/devinfo.c: ``hca_id:``, the device's values one tab deeper, ``port:`` two tabs,
its values three. With -v a list of capabilities follows (of which the reads that a queue pair may have under way are
read) and ``GID[  n]:``, with ``, RoCE v1`` or ``, RoCE v2`` behind the address in newer releases. Text that begins
inside a block belongs to the device of ``-d``, else to `UNNAMED`; where a filter took the ``port:`` lines, ports count
from 1.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, after_text, not_again, not_understood

KIND = "ibv_devinfo"
COMMANDS = ("ibv_devinfo",)
ANCHOR = (
    r"\d{1,3} HCAs? found:\s*$|hca_id:\s+\S+\s*$|vendor_part_id:\s+\d+\s*$|phys_port_cnt:\s+\d+\s*$|port:\s+\d{1,3}\s*$"
    r"|[ \t]{0,40}state:[ \t]+PORT_[A-Z_]{2,16} \(\d\)\s*$|[ \t]{0,40}GID\[[ \d]{1,5}\]:[ \t]"
)
_DEVICE_VALUES = frozenset({
    "transport", "fw_ver", "node_guid", "sys_image_guid", "vendor_id", "vendor_part_id", "hw_ver", "board_id",
    "phys_port_cnt", "max_qp_rd_atom",
})  # fmt: skip
_PORT_VALUES = frozenset({
    "state", "max_mtu", "active_mtu", "sm_lid", "port_lid", "port_lmc", "link_layer", "active_width", "active_speed",
    "phys_state",
})  # fmt: skip
_VALUE = rf"\s*\**({'|'.join(sorted(_DEVICE_VALUES | _PORT_VALUES))}):(.*)$"
_GID = r"\s*\**GID\[\s*(\d{1,5})\]:\s*([0-9a-fA-FxX*:.]+)(?:,\s*(IB|RoCE v1|RoCE v2))?\s*\**$"
_AFTER_BLANK = (
    r"\s+(?:cq moderation caps:|maximum available device memory:|num_comp_vectors:|tag matching|tm_caps:|port:\s)"
)
_COUNT = lazy_regex(r"\s*(\d{1,3}) HCAs? found:\s*$")
_ASKED = lazy_regex(r"\s(?:-d\s?|--ib-dev[= ])([A-Za-z][\w.-]{0,63})")
_LISTED = lazy_regex(r"\s+([A-Za-z][\w.-]{0,63})\s*$")


class _Devices(Reading):
    """An observation a device, a port and a GID; complete when every announced port was read to its end."""

    def __init__(self, section: Section) -> None:
        """The values are those of the block at hand, which a new header closes."""
        super().__init__(section)
        asked = _ASKED.search(section.command or "")
        self.asked = asked[1] if asked else None
        self.device: str | None = None
        self.port: int | None = None
        self.headed = False
        self.start = 0
        self.values: dict[str, str] = {}
        self.gids: list[tuple[int, int, str, str | None]] = []
        self.announced = self.read = 0
        self.empty = False
        self.whole = basics.unfiltered(section.command, "ibv_devinfo", ("-v", "--verbose", "-vv"))

    def device_header(self, found: re.Match[str]) -> None:
        """The next device."""
        self._begin(found[1], None)
        self.headed = False

    def port_header(self, found: re.Match[str]) -> None:
        """The next port."""
        self._begin(self.device or self.asked or rdma.UNNAMED, int(found[1]))
        self.headed = True

    def _begin(self, device: str, port: int | None) -> None:
        self._close(last=False)
        self.device, self.port = device, port
        self.start, self.values, self.gids = self.index, {}, []

    def _begin_port(self) -> None:
        """A port without its header."""
        self._begin(self.device or self.asked or rdma.UNNAMED, (self.port or 0) + 1)

    def _is_next(self) -> bool:
        """Does a value that was seen before belong to the next port, whose header a filter took?"""
        return not self.headed and self.device != rdma.UNNAMED

    def gid(self, found: re.Match[str]) -> None:
        """An address of the port; unread where it is that of another port, nobody knows of which device."""
        address, number = rdma.gid(found[2]), int(found[1])
        again = bool(self.gids) and number <= self.gids[-1][1]
        if address is not None and (self.port is None or (again and self._is_next())):
            self._begin_port()
            again = False
        if address is None or again:
            self.unread.append(self.index)
        else:
            self.gids.append((self.index, number, address, found[3]))

    def value(self, found: re.Match[str]) -> bool:
        """A value of the device or the port, without a note after a ``#``; False where the other one has it."""
        name = found[1]
        if name in _PORT_VALUES and (self.port is None or (name == "state" and self._is_next())):
            self._begin_port()
        if name not in (_DEVICE_VALUES if self.port is None else _PORT_VALUES):
            return False
        if self.device is None:
            self.device, self.start = self.asked or rdma.UNNAMED, self.index
        self.values.setdefault(name, found[2].partition(" #")[0].strip(" \t*"))
        return True

    def no_devices(self, _: re.Match[str]) -> None:
        """The whole answer."""
        self.empty = True

    def elision(self, _: object) -> None:
        """Lines were left out."""
        self.whole = False

    def detail(self, _: re.Match[str]) -> bool:
        """What -v prints of a device."""
        return self.device is not None

    def end(self) -> None:
        """The last block."""
        self._close(last=True)

    def complete(self) -> bool:
        """All ports are there, or there are no devices."""
        return self.whole and (self.read == self.announced if self.found else self.empty)

    def _close(self, *, last: bool) -> None:
        if self.device is None:
            return
        if self.port is None:
            self._close_device(self.device)
        else:
            self._close_port(self.device, self.port, last=last)

    def _close_device(self, device: str) -> None:
        get = self.values.get
        self.whole = self.whole and device != rdma.UNNAMED
        self.announced += basics.number(get("phys_port_cnt", "1")) or 0
        self.observe(
            "Hca",
            (device,),
            at=self.start,
            firmware=get("fw_ver"),
            board_id=get("board_id"),
            vendor_id=get("vendor_id"),
            part_id=get("vendor_part_id"),
            node_guid=rdma.guid(get("node_guid", "")),
            nports=basics.number(get("phys_port_cnt", "")),
            reads_per_qp=basics.number(get("max_qp_rd_atom", "")),
        )

    def _close_port(self, device: str, port: int, *, last: bool) -> None:
        get = self.values.get
        layer = rdma.link_layer(get("link_layer", ""))
        self.read += "port_lmc" in self.values
        self.whole = self.whole and device != rdma.UNNAMED
        width, speed = (re.sub(r"\s*\(\d+\)$", "", get(name, "")) or None for name in ("active_width", "active_speed"))
        self.observe(
            "Port",
            (device, port),
            at=self.start,
            state=rdma.port_state(get("state", "")),
            physical_state=rdma.physical_state(get("phys_state", "")),
            link_layer=layer,
            rate_gbps=_rate(width, speed),
            lid=basics.number(get("port_lid", "")),
            sm_lid=basics.number(get("sm_lid", "")),
            active_mtu=_mtu(get("active_mtu", "")),
            max_mtu=_mtu(get("max_mtu", "")),
            active_width=width,
            active_speed=speed,
            gids_complete=True if self.gids and self.headed and not last else None,
        )
        for index, number, address, said in self.gids:
            kind = "IB" if said == "IB" or (said is None and layer == "InfiniBand") else said
            place, ip = (device, port, number), rdma.mapped_ip(address)
            self.observe("Gid", place, at=index, address=address, ip=ip, type=kind)


ROWS = Rows(
    _Devices,
    Row(r"\s*hca_id:\s+(\S{1,64})\s*$", _Devices.device_header, belongs=not_again),
    Row(r"\s*port:\s+(\d{1,3})\s*$", _Devices.port_header),
    Row(_GID, _Devices.gid),
    Row(_VALUE, _Devices.value),
    Row(r"\s*No IB devices found", _Devices.no_devices),
    Row(r"libibverbs: Warning: ", not_understood),
    Row(basics.is_elision, _Devices.elision, belongs=after_text),
    Row(_AFTER_BLANK, _Devices.detail),
    Row(r"\s+\S", _Devices.detail, belongs=after_text),
    BLANK,
)


def parse(section: Section) -> Parsed:
    """Devices, ports and GIDs; after ``-l`` the names of the devices."""
    count = _COUNT.match(section.lines[0]) if section.lines else None
    if count is None:
        return ROWS.parse(section)
    names = [(i, found[1]) for i, line in enumerate(section.lines) if (found := _LISTED.match(line))]
    devices = tuple(observe(section, index, "Hca", (name,)) for index, name in names)
    return Parsed(observations=devices, complete=int(count[1]) == len(names))


def _mtu(text: str) -> int | None:
    """``4096 (5)``: bytes, and the code of the enumeration."""
    return basics.number(text.split(" ", 1)[0])


def _rate(width: str | None, speed: str | None) -> float | None:
    """Lanes times the rate of one, as the rate file of /sys says it; None when one of them is not printed."""
    lanes, lane = basics.quantity(width or ""), basics.quantity(speed or "")
    return lanes * lane if lanes and lane else None
