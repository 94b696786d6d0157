"""``smpquery portinfo LID PORT`` and ``ibportstate LID PORT [query]``: the state of one port of a fabric.

Source of the format: rdma-core infiniband-diags/smpquery.c (port_info), ibportstate.c, libibmad/src/dump.c: names
padded with dots to 32 columns. The LID of the port is in the heading, or in the command where that was cut off.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import rdma
from ncdiag.parsers._fabric import FabricReading
from ncdiag.parsers._rows import Row, Rows

KIND = "portinfo"
COMMANDS: tuple[str, ...] = ("smpquery portinfo", "smpquery PortInfo", "ibportstate")
_FIELD = r"(?P<name>[A-Z]\w{2,31}):\.{2,40}(?P<value>[^\n.][^\n]{0,120})$"
_HEADING = r"# Port info: (?:Lid (?P<lid>\d{1,5}) port (?P<port>\d{1,3})\s*$|[^\n]{1,160}$)"
_KIND = r"(?:Switch|CA/RT|CA|Peer) PortInfo:\s*$"
ANCHOR = rf"# Port info: |{_KIND}|PhysLinkState:\.{{4,}}|LinkState:\.{{4,}}"
_ASKED = lazy_regex(
    r"(?:smpquery\s+(?:-\S+\s+)*(?i:portinfo)|ibportstate(?:\s+-[A-Za-z]\s+\S+)*)\s+(\d{1,5})\s+(\d{1,3})\b"
)
_WIDTH = lazy_regex(r"\b(\d{1,2})X")
_UNPHYSICAL = frozenset({"Polling", "Disabled", "Sleep"})


class _Port(FabricReading):
    """A port as a link of a node that only its LID names."""

    def __init__(self, section: Section) -> None:
        """The command names the port where the output does not."""
        super().__init__(section)
        asked = _ASKED.search(section.command or "")
        self.place = (int(asked[1]), int(asked[2])) if asked else None
        self.values: dict[str, str] = {}

    def heading(self, found: re.Match[str]) -> None:
        """The port that the output is about."""
        self.place = (int(found["lid"]), int(found["port"])) if found["lid"] else self.place

    def field(self, found: re.Match[str]) -> None:
        """A field of the port; those of the peer, which ibportstate prints below, are another port's."""
        self.values.setdefault(found["name"], found["value"].strip())

    def end(self) -> None:
        """The port, if it is known which."""
        physical = rdma.physical_state(self.values.get("PhysLinkState", ""))
        state = rdma.port_state(self.values.get("LinkState", ""))
        if self.place is not None and (physical or state):
            lid, port = self.place
            link = {"port": port, "state": state or ("down" if physical in _UNPHYSICAL else None)}
            link |= {"physical_state": physical, "could_be": self._could_be()}
            self.begin(kind="switch", guid="", lid=lid)
            self.nodes[-1]["links"].append({name: value for name, value in link.items() if value is not None})
        super().end()

    def _could_be(self) -> str | None:
        """``Could be 4X``, as iblinkinfo says it, where fewer lanes are active than the port supports and allows."""
        supported, enabled, active = (
            {int(width) for width in _WIDTH.findall(self.values.get(f"LinkWidth{which}", ""))}
            for which in ("Supported", "Enabled", "Active")
        )
        best = max(supported & enabled, default=0)
        return f"Could be {best}X" if len(active) == 1 and max(active) < best else None


ROWS = Rows(_Port, Row(_HEADING, _Port.heading), Row(_KIND), Row(_FIELD, _Port.field))
continues, parse = ROWS.continues, ROWS.parse
