"""``mlxlink -d DEVICE`` (``-c``, ``-m``): what a ConnectX card says of its link.

Source of the format: mstflint mlxlink/modules/mlxlink_commander.cpp and printutil/mlxlink_cmd_print.cpp: titles
underlined with dashes, ``name : value`` in columns. ``Recommendation`` is the firmware's word for what is wrong; the
list of them is in the manual of MLNX-OS (Link Diagnostic Per Port).
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, after_text

KIND = "mlxlink"
EVENTS = {"link-module-advice": {"module_fault": "str"}}
COMMANDS: tuple[str, ...] = ("mlxlink", "mstlink")
ANCHOR = r"Operational Info[ \t]*$|Troubleshooting Info[ \t]*$|Physical Counters and BER Info[ \t]*$"

_DEVICE = lazy_regex(r"\s(?:-d|--device)[ =]{0,4}(?P<hca>[A-Za-z][\w.-]{0,63})(?=\s|$)")
_PORT = lazy_regex(r"\s(?:-p|--port)[ =]{0,4}(?P<port>\d{1,3})(?=\s|$)")
_COUNTERS = {"Link Down Counter": "link_downed", "Link Error Recovery Counter": "link_error_recovery"}
_FINE = frozenset({"No issue was observed", "N/A", ""})
_PHYSICAL = {"Disable": "Disabled", "Disabled": "Disabled", "Polling": "Polling", "LinkUp": "LinkUp"}
_MODULE = lazy_regex(
    r"(?i)signal integrity|physical errors|high ber|module|transceiver|stamping|eeprom|temperature|power budget"
    r"|cable error|cable is shorted|shorted|part number|unknown identifier|long range|bus stuck|phase eo|calibration"
)
"""Recommendations that blame the cable or the module in the cage, of those in the table of the switches' manual."""
_WIDTH = lazy_regex(r"\d{1,2}x$")
_LIMIT = 600


class _Link(Reading):
    """State, ``counters`` and ``link_advice`` of the port; nothing where the command names no RDMA device."""

    def __init__(self, section: Section) -> None:
        """No value was read yet."""
        super().__init__(section)
        self.values: dict[str, str] = {}
        self.places: dict[str, int] = {}

    def value(self, pair: re.Match[str]) -> None:
        """The first of a name counts."""
        self.values.setdefault(pair["name"].strip(), pair["value"].strip())
        self.places.setdefault(pair["name"].strip(), self.index)

    def end(self) -> None:
        """All of it as one observation."""
        command, places = self.section.command or "", self.places
        advice = self.values.get("Recommendation", "")
        if _MODULE.search(advice):
            at = places["Recommendation"]
            self.observe(
                "Event", at=at, event="link-module-advice", origin="app", kind="fact", count=1,
                text=self.section.lines[at][:200], order=self.section.number(at),
                fields={"module_fault": advice[:200]},
            )  # fmt: skip
        device, port = _DEVICE.search(command), _PORT.search(command)
        fields = _fields(self.values)
        if device is None or not fields:
            return
        first = min((at for name, at in places.items() if name in _COUNTERS), default=0)
        first = next((places[name] for name in ("State", "Recommendation") if name in places), first)
        self.observe("Port", (device["hca"], int(port["port"]) if port else 1), at=first, **fields)


ROWS = Rows(
    _Link,
    BLANK,
    Row(r"-{4,80}\s*$"),
    Row(r"(?=[^:]{20,60}:)(?P<name>[A-Za-z][^:]{1,60}?)\s{1,40}: ?(?P<value>.{0,400})$", _Link.value),
    Row(r"[A-Z][\w /().-]{2,60}$", belongs=lambda lines, line: not after_text(lines, line)),
    most=_LIMIT + 1,
)


def _fields(values: dict[str, str]) -> dict[str, Any]:
    """``State`` is that of the link, which an InfiniBand port without a subnet manager has as well: no port state."""
    fields: dict[str, Any] = {
        "physical_state": _PHYSICAL.get(values.get("Physical state", "")),
        "state": "down" if values.get("State") in {"Polling", "Disable", "Down"} else None,
        "link_layer": "InfiniBand" if values.get("Speed", "").startswith("IB-") else None,
        "active_width": width.upper() if _WIDTH.match(width := values.get("Width", "")) else None,
    }
    advice = values.get("Recommendation")
    if advice is not None and advice != "N/A":
        fields["link_advice"] = "" if advice in _FINE else advice[:200]
    counters = {
        name: count for label, name in _COUNTERS.items() if (count := basics.number(values.get(label, ""))) is not None
    }
    return {name: value for name, value in (fields | {"counters": counters or None}).items() if value is not None}
