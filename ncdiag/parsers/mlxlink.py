"""``mlxlink -d DEVICE`` (``-c``, ``-m``): what a ConnectX card says of its link.

Source of the format: mstflint mlxlink/modules/mlxlink_commander.cpp and printutil/mlxlink_cmd_print.cpp: titles
underlined with dashes, ``name : value`` in columns. ``Recommendation`` is the firmware's word for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics

KIND = "mlxlink"
COMMANDS: tuple[str, ...] = ("mlxlink", "mstlink")
ANCHOR = r"Operational Info[ \t]*$|Troubleshooting Info[ \t]*$|Physical Counters and BER Info[ \t]*$"

_TITLE = re.compile(r"[A-Z][\w /().-]{2,60}$")
_RULE = re.compile(r"-{4,80}\s*$")
_PAIR = re.compile(r"(?=[^:]{20,60}:)(?P<name>[A-Za-z][^:]{1,60}?)\s{1,40}: ?(?P<value>.{0,400})$")
_DEVICE = re.compile(r"\s(?:-d|--device)[ =]{0,4}(?P<hca>[A-Za-z][\w.-]{0,63})(?=\s|$)")
_PORT = re.compile(r"\s(?:-p|--port)[ =]{0,4}(?P<port>\d{1,3})(?=\s|$)")
_COUNTERS = {"Link Down Counter": "link_downed", "Link Error Recovery Counter": "link_error_recovery"}
_FINE = frozenset({"No issue was observed", "N/A", ""})
_PHYSICAL = {"Disable": "Disabled", "Disabled": "Disabled", "Polling": "Polling", "LinkUp": "LinkUp"}
_LIMIT = 600


def continues(lines: Sequence[str], line: str) -> bool:
    """Titles with their rule, and pairs of name and value; a blank line comes before a title."""
    if len(lines) > _LIMIT:
        return False
    if not line.strip() or _RULE.match(line):
        return True
    if _PAIR.match(line):
        return True
    return _TITLE.match(line) is not None and (not lines or not lines[-1].strip())


def parse(section: Section) -> Parsed:
    """State, ``counters`` and ``link_advice`` of the port; nothing where the command names no RDMA device."""
    values: dict[str, tuple[int, str]] = {}
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        pair = _PAIR.match(line)
        if pair:
            values.setdefault(pair["name"].strip(), (index, pair["value"].strip()))
        elif line.strip() and not _RULE.match(line) and not _TITLE.match(line):
            unread.append(index)
    device, port = _DEVICE.search(section.command or ""), _PORT.search(section.command or "")
    fields = _fields({name: text for name, (_, text) in values.items()})
    if device is None or not fields:
        return Parsed(unread=tuple(unread))
    first = min((index for name, (index, _) in values.items() if name in _COUNTERS), default=0)
    first = next((values[name][0] for name in ("State", "Recommendation") if name in values), first)
    key = device["hca"], int(port["port"]) if port else 1
    return Parsed(observations=(observe(section, first, "Port", key, **fields),), unread=tuple(unread))


def _fields(values: dict[str, str]) -> dict[str, Any]:
    """``State`` is that of the link, which an InfiniBand port without a subnet manager has as well: no port state."""
    fields: dict[str, Any] = {
        "physical_state": _PHYSICAL.get(values.get("Physical state", "")),
        "state": "down" if values.get("State") in {"Polling", "Disable", "Down"} else None,
    }
    advice = values.get("Recommendation")
    if advice is not None and advice != "N/A":
        fields["link_advice"] = "" if advice in _FINE else advice[:200]
    counters = {
        name: count for label, name in _COUNTERS.items() if (count := basics.number(values.get(label, ""))) is not None
    }
    return {name: value for name, value in (fields | {"counters": counters or None}).items() if value is not None}
