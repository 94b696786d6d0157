"""``ufw status``: what Ubuntu's packet filter does with what comes in.

Source of the format: ufw src/backend_iptables.py (get_status: ``Status:``, ``Default:`` where verbose, the columns To,
Action and From), src/backend.py. Without ``verbose`` it does not say what becomes of packets that no rule names.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._filters import ALL_IPV4, holds_ephemeral, network, networks
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "ufw"
COMMANDS: tuple[str, ...] = ("ufw status", "ufw --force status")
ANCHOR = (
    r"[ \t]{0,8}To[ \t]{10,}Action[ \t]{1,12}From[ \t]*$|Default: (?:deny|allow|reject) \(incoming\), \w+ \(outgoing\)"
)

_ROW = (
    r"(?:\[ ?\d{1,4}\] )?(?P<to>\S.{0,60}?) {1,40}(?P<action>ALLOW|DENY|REJECT|LIMIT)(?: (?P<way>IN|OUT|FWD))? {1,16}"
    r"(?P<source>\S.{0,80}?)\s*$"
)
_IS_ROW = lazy_regex(_ROW)
_FRAME = r"\s*To\s+Action\s+From\s*$|\s*--\s+------\s+----\s*$|Logging: |New profiles: |ERROR: |WARN: "
_TO_ALL = lazy_regex(r"Anywhere(?:/tcp)?(?: on [\w.@-]{1,20})?$")
_PORTS = lazy_regex(r"(\d{1,5}:\d{1,5})/tcp(?: on [\w.@-]{1,20})?$")
_INTERFACE = lazy_regex(r" on ([\w.@-]{1,20})$")
_LIMIT = 2000


class _Filter(Reading):
    """Whether ufw is active; then ``input_policy``, ``input_drops`` and ``input_allows``, each where it was printed."""

    def __init__(self, section: Section) -> None:
        """Nothing was read yet."""
        super().__init__(section)
        self.fields: dict[str, Any] = {}
        self.active: bool | None = None
        self.first, self.drops, self.allows = 0, 0, list[str]()

    def status(self, found: re.Match[str]) -> None:
        """Is it active?"""
        self.active, self.first = found[1] == "active", self.index

    def default(self, found: re.Match[str]) -> None:
        """What becomes of packets that no rule names."""
        self.active, self.first = True, self.index
        self.fields["input_policy"] = "accept" if found[1] == "allow" else "drop"

    def rule(self, row: re.Match[str]) -> None:
        """A rule, which only an active filter has."""
        self.active = True
        self.drops += _is_for_all(row) and row["action"] in {"DENY", "REJECT"}
        self.allows += _allowed(row)

    def end(self) -> None:
        """The service, and the filter where it is active."""
        if self.active is None:
            return
        self.observe("Service", ("ufw",), at=self.first, active=self.active)
        fields = self.fields
        if self.active:
            fields |= {"input_allows": self.allows} if fields or self.allows else {}
            fields |= {"input_drops": self.drops} if fields.get("input_policy") or self.drops else {}
            fields |= {"input_filters": ["ufw"], "input_networks": networks(self.section.lines)}
        if self.active and fields:
            self.observe("Host", at=self.first, **fields)


ROWS = Rows(
    _Filter,
    Row(r"Status: (active|inactive)\s*$", _Filter.status),
    Row(r"Default: (deny|allow|reject|disabled) \(incoming\)", _Filter.default),
    Row(_ROW, _Filter.rule),
    Row(_FRAME),
    Row(r"\s*$", belongs=lambda lines, _: bool(lines) and not _IS_ROW.match(lines[-1])),  # after a rule it ends them
    most=_LIMIT,
)


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
