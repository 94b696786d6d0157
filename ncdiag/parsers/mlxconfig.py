"""``mlxconfig -d DEVICE query`` and ``mst status -v``: link type and ATS in the firmware, and which device is which.

Source of the format: MFT mlxconfig (``Device:`` above the values, ``LINK_TYPE_P1   ETH(2)``; with ``-e`` the last
column is that of the next start) and mst (``DEVICE_TYPE MST PCI RDMA NET NUMA``); mstflint's mstconfig is the same.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "mlxconfig"
COMMANDS: tuple[str, ...] = ("mlxconfig", "mstconfig", "mst status")
_TYPE = (
    r"[ \t*]{0,40}LINK_TYPE_P(?P<port>[12])[ \t]{1,80}(?:[\w()]{1,20}[ \t]{1,60}){0,2}(?P<type>IB|ETH|VPI)\(\d\)\s*$"
)
_ATS = r"[ \t*]{0,40}ATS_ENABLED[ \t]{1,80}(?:[\w()]{1,20}[ \t]{1,60}){0,2}(?P<on>True|False)\(\d\)\s*$"
_MST = (
    r"(?:ConnectX|BlueField)[\w-]{1,12}\(rev:[^)]{1,8}\)[ \t]{1,20}(?P<mst>/dev/mst/\w{1,60}(?:\.\d)?)[ \t]{1,20}"
    r"(?P<pci>[0-9a-f:.]{7,12})[ \t]{1,20}(?P<rdma>[\w-]{1,40})\b"
)
ANCHOR = (
    r"[ \t*]{0,40}(?:LINK_TYPE_P[12]|ATS_ENABLED)[ \t]|(?:ConnectX|BlueField)[\w-]{1,12}\(rev:|Device #\d{1,3}:[ \t]*$"
)
_DEVICE = r"Device:\s{1,20}(?P<device>\S{1,80})\s*$"
_VALUE = r"[ \t*]{0,40}[A-Z][A-Z0-9_]{3,60}(?:\[\d+(?:\.\.\d+)?\])?[ \t]{1,80}\S[^\n]{0,200}$"
_FRAME = (
    r"Device #\d|-{4,}|Device type:|Name:|Description:|Configurations:|The ['\"]?\*|MST modules:|\s{4,}MST |DEVICE_TYPE"
    r"|(?:PCI|Cable) devices:|\s*NA\b"
)
_ASKED = lazy_regex(r"\s(?:-d|--dev)[\s=]+(?P<device>[\w/:.-]{1,80})")


class _Types(Reading):
    """``port_types``, ``ats_settings`` and ``mst_devices`` of the host."""

    def __init__(self, section: Section) -> None:
        """The device is that of the command until a line names one."""
        super().__init__(section)
        asked = _ASKED.search(section.command or "")
        self.device = asked["device"] if asked else None

    def asked_of(self, found: re.Match[str]) -> None:
        """The device of the values below."""
        self.device = found["device"]

    def link_type(self, found: re.Match[str]) -> bool:
        """The link type of a port, if its device is known."""
        if self.device is not None:
            self.observe("Host", port_types={f"{self.device} {found['port']}": found["type"]})
        return self.device is not None

    def ats(self, found: re.Match[str]) -> None:
        """Whether ATS is switched on in the firmware of the device."""
        self.observe("Host", ats_settings={self.device or "a card": found["on"]})

    def mst(self, found: re.Match[str]) -> None:
        """A device under all of its names."""
        self.observe("Host", mst_devices={found["mst"]: found["rdma"], found["pci"]: found["rdma"]})


ROWS = Rows(
    _Types,
    Row(_TYPE, _Types.link_type),
    Row(_ATS, _Types.ats),
    Row(_MST, _Types.mst),
    Row(_DEVICE, _Types.asked_of),
    Row(_FRAME),
    Row(_VALUE),
    BLANK,
    most=600,
)
continues, parse = ROWS.continues, ROWS.parse
