"""``ufw status``: what Ubuntu's packet filter does with what comes in.

Source of the format: ufw src/backend_iptables.py (get_status: ``Status:``, ``Default:`` where verbose, the columns To,
Action and From), src/backend.py. Without ``verbose`` it does not say what becomes of packets that no rule names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers._filters import ALL_IPV4, holds_ephemeral, network

KIND = "ufw"
COMMANDS: tuple[str, ...] = ("ufw status", "ufw --force status")
ANCHOR = (
    r"[ \t]{0,8}To[ \t]{10,}Action[ \t]{1,12}From[ \t]*$|Default: (?:deny|allow|reject) \(incoming\), \w+ \(outgoing\)"
)

_STATUS = re.compile(r"Status: (active|inactive)\s*$")
_DEFAULT = re.compile(r"Default: (deny|allow|reject|disabled) \(incoming\)")
_ROW = re.compile(
    r"(?:\[ ?\d{1,4}\] )?(?P<to>\S.{0,60}?) {1,40}(?P<action>ALLOW|DENY|REJECT|LIMIT)(?: (?P<way>IN|OUT|FWD))? {1,16}"
    r"(?P<source>\S.{0,80}?)\s*$"
)
_FRAME = re.compile(r"\s*To\s+Action\s+From\s*$|\s*--\s+------\s+----\s*$|Logging: |New profiles: |ERROR: |WARN: ")
_TO_ALL = re.compile(r"Anywhere(?:/tcp)?(?: on [\w.@-]{1,20})?$")
_PORTS = re.compile(r"(\d{1,5}:\d{1,5})/tcp(?: on [\w.@-]{1,20})?$")
_INTERFACE = re.compile(r" on ([\w.@-]{1,20})$")
_LIMIT = 2000


def continues(lines: Sequence[str], line: str) -> bool:
    """The head of a few lines, then a row for each rule; a blank line ends the rows."""
    if not line.strip():
        return bool(lines) and not _ROW.match(lines[-1])
    known = any(pattern.match(line) for pattern in (_STATUS, _DEFAULT, _FRAME, _ROW))
    return known and len(lines) < _LIMIT


def parse(section: Section) -> Parsed:
    """Whether ufw is active; then ``input_policy``, ``input_drops`` and ``input_allows``, each where it was printed."""
    fields: dict[str, Any] = {}
    drops, allows, active, first = 0, [], None, 0
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        status, default, row = _STATUS.match(line), _DEFAULT.match(line), _ROW.match(line)
        if status:
            active, first = status[1] == "active", index
        elif default:
            active, first = True, index
            fields["input_policy"] = "accept" if default[1] == "allow" else "drop"
        elif row:
            active = True
            drops += _is_for_all(row) and row["action"] in {"DENY", "REJECT"}
            allows += _allowed(row)
        elif line.strip() and not _FRAME.match(line):
            unread.append(index)
    if active is None:
        return Parsed(unread=tuple(unread))
    found: list[Observation] = [observe(section, first, "Service", ("ufw",), active=active)]
    if active:
        fields |= {"input_allows": allows} if fields or allows else {}
        fields |= {"input_drops": drops} if fields.get("input_policy") or drops else {}
        found += [observe(section, first, "Host", **fields)] if fields else []
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _is_for_all(row: re.Match[str]) -> bool:
    """True if a rule is about what comes in on all ports."""
    return row["way"] in {None, "IN"} and _TO_ALL.match(row["to"]) is not None


def _allowed(row: re.Match[str]) -> list[str]:
    """The network of a rule that lets everything in, or the interface, where it names one for everything."""
    ports = _PORTS.match(row["to"])
    all_ports = row["way"] in {None, "IN"} and ports is not None and holds_ephemeral(ports[1])
    if row["action"] != "ALLOW" or not (_is_for_all(row) or all_ports):
        return []
    interface = _INTERFACE.search(row["to"])
    source = row["source"].split(" ", 1)[0]
    if interface:
        return [interface[1]] if source == "Anywhere" else []
    named = network(source.replace("Anywhere", ALL_IPV4))
    return [named] if named else []
