"""``ip route get ADDRESS``: by which interface the kernel would send to an address, and that it would not.

Source of the format: iproute2 ip/iproute.c (iproute_get, print_route: the answer is a route with ``src``, ``uid`` and a
line ``cache``), lib/libnetlink.c (``RTNETLINK answers:`` and the text of the errno).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import ip_address

KIND = "route_get"
_TABLES = ("ip route", "ip r", "ip ro", "ip -4 route", "ip -4 r", "ip -6 route", "ip -6 r", "ip -o route")
COMMANDS: tuple[str, ...] = tuple(f"{table} {word}" for table in _TABLES for word in ("get", "g"))
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]{1,40})"
_REST = rf"(?: from {_ADDRESS})?(?: via (?:inet6 )?{_ADDRESS})? dev [\w.@-]{{1,64}}"
ANCHOR = (
    rf"(?:local )?{_ADDRESS}{_REST}(?: table \w{{1,20}})?(?: proto \w{{1,20}})?(?: src {_ADDRESS})?"
    r" (?:metric \d{1,10} )?uid \d"
)

_ANSWER = re.compile(
    rf"\s*(?:(?P<kind>local|broadcast|multicast|unicast|unreachable|prohibit|blackhole|throw) )?(?P<to>{_ADDRESS})"
    rf"(?: from {_ADDRESS})?(?: via (?:inet6 )?(?P<gateway>{_ADDRESS}))?(?: dev (?P<interface>[\w.@-]{{1,64}}))?"
    r"(?:\s|$)"
)
_REFUSED = re.compile(
    r"RTNETLINK answers: (?:Network is unreachable|No route to host|Permission denied|Invalid argument)\s*$"
)
_CACHE = re.compile(r"\s+cache\b|\s+(?:mtu|expires|users|ipid) ")
_ASKED = re.compile(rf"\bg(?:et)?\s+(?:to\s+)?({_ADDRESS})(?:/\d{{1,3}})?(?:\s|$)")
_REFUSING = frozenset({"unreachable", "prohibit", "blackhole", "throw"})


def continues(lines: Sequence[str], line: str) -> bool:
    """One answer, and the line ``cache`` below it."""
    if not any(text.strip() for text in lines):
        return _ANSWER.match(line) is not None or _REFUSED.match(line) is not None
    return _CACHE.match(line) is not None


def parse(section: Section) -> Parsed:
    """``route_answers`` of the host; an answer of netlink alone is about the address in the command."""
    asked = _ASKED.search(section.command or "")
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        answer = _ANSWER.match(line) if not found else None
        to = answer["to"] if answer else asked[1] if asked and _REFUSED.match(line) and not found else None
        if to and ip_address(to):
            sends = answer is not None and answer["kind"] not in _REFUSING
            told = {"interface": answer["interface"], "gateway": answer["gateway"]} if answer and sends else {}
            row = {"address": to, **{name: text for name, text in told.items() if text}}
            found.append(observe(section, index, "Host", route_answers=[row]))
        elif line.strip() and not _CACHE.match(line):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
