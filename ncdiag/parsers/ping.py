"""``ping``: whether packets of a size reach an address, and what a router says of those that do not fit.

Sources of the format: iputils ping/ping_common.c, ping/ping.c (``PING n2 (10.0.0.2) 8972(9000) bytes of data.``,
``5 packets transmitted, 0 received, 100% packet loss``, ``Frag needed and DF set (mtu = 1500)``); BusyBox
networking/ping.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "ping"
EVENTS = {
    "ping-tried": {"address": "str", "size": "int", "sent": "int", "received": "int", "path_mtu": "int"},
    "name-resolved": {"host_name": "str", "address": "str"},
}
"""``size`` in bytes of data, 28 fewer than the packet has; ``path_mtu`` where a router on the way told it."""
COMMANDS: tuple[str, ...] = ("ping", "ping6")
ANCHOR = r"PING \S{1,255} ?\([0-9a-fA-F.:%\w]{2,60}\)[^\n]{0,80}?\d{1,5}(?:\(\d{1,5}\))? (?:data )?bytes"
SIGNS = ("PING ",)

_SIZE = r"(?P<size>\d{1,5})(?:\(\d{1,5}\))? (?:data )?bytes"
_HEAD = lazy_regex(rf"PING (?P<name>\S{{1,255}}?) ?\((?P<address>[0-9a-fA-F.:%\w]{{2,60}})\).{{0,80}}?(?<!\d){_SIZE}")
_COUNT = lazy_regex(r"(?P<sent>\d{1,6}) packets transmitted, (?P<received>\d{1,6}) (?:packets )?received")
_TOO_BIG = lazy_regex(
    r"From \S{1,255}.{0,60}(?:Frag needed and DF set|Packet too big)[ :(]{1,3}mtu ?= ?(?P<mtu>\d{2,5})"
)
_MORE = lazy_regex(
    r"\d{1,5} bytes from |From \S|--- .{1,255} ping statistics ---|rtt |round-trip |ping: |no answer yet"
    r"|\d{1,6} packets|Request timeout|pipe \d|(?:\^C)?\s*$|\^C---"
)
_NUMBERS = lazy_regex(r"[0-9a-fA-F.:]*[.:][0-9a-fA-F.:%\w]*|[\d.]+")
"""An address in place of a name."""
_OPTION = lazy_regex(r"(?:^|\s)-s ?(?P<size>\d{1,5})(?=\s|$)")
_TARGET = lazy_regex(r"\s(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{1,4}:[0-9a-fA-F:]{2,40})\s*$")
_USUAL_SIZE = 56
_MOST = 400


def continues(lines: Sequence[str], line: str) -> bool:
    """Answers, complaints and the summary, behind which only the times follow."""
    if any(_COUNT.match(known) for known in lines[-3:]):
        return line.startswith(("rtt ", "round-trip ", "pipe "))
    return len(lines) < _MOST and _MORE.match(line) is not None


def parse(section: Section) -> Parsed:
    """One event for the name in the head, and one for a run with head and summary."""
    fields = _asked(section.command or "")
    named: list[Observation] = []
    at: int | None = None
    for index, line in enumerate(section.lines):
        head, count, big = _HEAD.match(line), _COUNT.match(line), _TOO_BIG.match(line)
        if head:
            fields = {"address": head["address"], "size": int(head["size"])}
            at = index
            if not _NUMBERS.fullmatch(head["name"]):
                named.append(_event(section, at, "name-resolved", host_name=head["name"], address=head["address"]))
        elif count:
            fields |= {"sent": int(count["sent"]), "received": int(count["received"])}
            at = index
        elif big:
            fields["path_mtu"] = int(big["mtu"])
            at = index
    if at is None or "size" not in fields or not fields.keys() & {"sent", "path_mtu"}:
        return Parsed(observations=tuple(named))
    return Parsed(observations=(*named, _event(section, at, "ping-tried", **fields)))


def _asked(command: str) -> dict[str, Any]:
    """Address and size from the command, for an output whose head was left out; empty without an address."""
    command = command.partition("|")[0].partition("2>")[0]
    target, size = _TARGET.search(command), _OPTION.search(command)
    if target is None:
        return {}
    return {"address": target["address"], "size": int(size["size"]) if size else _USUAL_SIZE}


def _event(section: Section, index: int, name: str, **fields: Any) -> Observation:  # noqa: ANN401
    return observe(
        section, index, "Event", event=name, origin="app", kind="fact", text=section.lines[index][:200], count=1,
        order=section.number(index), fields=fields,
    )  # fmt: skip
