"""Routing tables: ``ip route``, ``route -n`` and ``netstat -rn``.

Format: iproute2, ip/iproute.c (``print_route``: ``destination via gateway dev interface ... metric n``, nexthops of one
route on lines below it); net-tools, lib/inet_gr.c (columns under ``Destination Gateway Genmask Flags``). Destinations
become CIDR texts or ``default``. The answer to ``ip route get`` is not a route of the table: `route_get` reads it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.parsers._interface import prefix_length

KIND = "routes"
COMMANDS = (
    "ip route", "ip r", "ip ro", "ip -4 route", "ip -4 r", "ip -6 route", "ip -6 r", "route", "netstat -rn",
    "netstat -nr",
)  # fmt: skip
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4}:[0-9a-f:]{1,36})"
_NEIGHBOUR = r"(?:lladdr|extern_learn|REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|PERMANENT|NOARP)\b"
"""What is behind an address in ``ip neigh``, whose lines begin as those of routes."""
_TYPES = r"(?:unicast |unreachable |blackhole |prohibit |local |broadcast |multicast |anycast |throw )?"
ANCHOR = (
    rf"{_TYPES}(?:default|{_ADDRESS}(?:/\d{{1,3}})?) (?:via (?:inet6 )?{_ADDRESS} )?dev [\w.@-]{{1,64}}"
    rf"(?:[ \t]+(?!{_NEIGHBOUR}|[ \t])|$)"
    r"|Kernel IP(?:v6)? routing table|Destination\s+Gateway\s+Genmask\s"
)
_ROUTE = re.compile(rf"\s*(?P<type>{_TYPES})(?P<to>default|{_ADDRESS}(?:/\d{{1,3}})?)(?P<rest>\s.*)?$")
_HOP = re.compile(r"\s+nexthop (?P<rest>.*)$")
_TITLE = re.compile(r"\s*Kernel IP(?:v6)? routing table|\s*Destination\s+(?:Gateway|Next Hop)\s|\s+cache\b")
_COLUMNS = (8, 11)
"""``route -n`` and ``route -nee``, which adds MSS, window and round trip."""
_COLUMNS_6 = 7
_LINE_LIMIT = 1024
_NOT_UNICAST = ("unreachable", "blackhole", "prohibit", "local", "broadcast", "multicast", "anycast", "throw")


def continues(lines: Sequence[str], line: str) -> bool:
    """Further routes, nexthops and titles; nothing goes on behind a blank line."""
    if not line.strip() or not lines[-1].strip() or len(line) > _LINE_LIMIT or line == lines[0]:
        return False
    if _TITLE.match(line) or _HOP.match(line) or basics.is_elision(line):
        return True
    return _row(line) is not None or _is_route(line)


def parse(section: Section) -> Parsed:
    """An observation a route; complete when the table was asked for as a whole and nothing was left out."""
    if re.search(r"\bget\b", section.command or "") or any(re.match(r"\s+cache\b", line) for line in section.lines):
        return Parsed()
    found: list[Observation] = []
    unread: list[int] = []
    titled, windows, to = False, False, "default"
    for index, line in enumerate(section.lines):
        if len(line) > _LINE_LIMIT:
            unread.append(index)
            continue
        hop, row = _HOP.match(line), _row(line)
        if _TITLE.match(line):
            titled, windows = True, windows or (" MSS " in line and " Metric " not in line)
        elif row is not None:
            found.append(_observed(section, index, *row[:3], None if windows else row[3]))
        elif hop:
            found.append(_words(section, index, to, hop["rest"]))
        elif _is_route(line):
            route = _ROUTE.match(line)
            to = _cidr(route["to"]) if route else to
            if route and " dev " in f"{route['rest']} " and route["type"].strip() not in _NOT_UNICAST:
                found.append(_words(section, index, to, route["rest"]))
        elif line.strip():
            unread.append(index)
    asked = titled or (section.command is not None and _asked_all(section.command))
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=asked and bool(found) and not unread)


def _asked_all(command: str) -> bool:
    if re.search(r"\bip\b", command):
        return basics.unfiltered(command, "ip", ("-4", "route", "r", "ro", "show", "list", "s", "ls"))
    return basics.unfiltered(command, "route", ("-n",))


def _is_route(line: str) -> bool:
    found = _ROUTE.match(line)
    if not found or re.search(_NEIGHBOUR, line):
        return False
    rest = found["rest"] or ""
    return (
        not rest.strip() or re.match(r"\s+(?:via|dev|proto|scope|metric|src|table|nhid|equalize)\s", rest) is not None
    )


def _words(section: Section, index: int, to: str, text: str) -> Observation:
    words = text.split()
    values = {word: words[at + 1] for at, word in enumerate(words[:-1]) if word in {"via", "dev", "metric"}}
    if values.get("via") in {"inet", "inet6"}:  # an IPv4 route over an IPv6 gateway
        values["via"] = words[words.index("via") + 2] if len(words) > words.index("via") + 2 else ""
    return _observed(section, index, to, values.get("dev"), values.get("via"), basics.number(values.get("metric", "")))


def _row(line: str) -> tuple[str, str, str | None, int | None] | None:
    """Destination, interface, gateway and metric of a line of eight columns; ``netstat`` has the MSS for a metric."""
    words = line.split()
    if len(words) == _COLUMNS_6 and re.fullmatch(r"[A-Za-z!]{1,8}", words[2]) and ":" in words[0] + words[1]:
        gateway = None if words[1] in {"::", "[::]", "*"} else words[1]
        return _cidr(words[0].replace("[", "").replace("]", "")), words[6], gateway, basics.number(words[3])
    if len(words) not in _COLUMNS or not re.fullmatch(r"[A-Z!]{1,8}", words[3]):
        return None
    bits = prefix_length(words[2])
    if bits is None:
        return None
    to = "default" if bits == 0 else _cidr(f"{words[0]}/{bits}")
    gateway = None if words[1] in {"0.0.0.0", "*"} else words[1]  # noqa: S104  (route's word for "no gateway")
    return to, words[7], gateway, basics.number(words[4])


def _cidr(text: str) -> str:
    """``10.0.0.5`` as ``10.0.0.5/32``, ``0.0.0.0/0`` as ``default``; what is not a network stays as it is."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return text
    return "default" if network.prefixlen == 0 else str(network)


def _observed(  # noqa: PLR0913, PLR0917  (a route's own parts)
    section: Section, index: int, to: str, interface: str | None, gateway: str | None, metric: int | None
) -> Observation:  # fmt: skip
    return observe(section, index, "Route", (to, interface), gateway=gateway, metric=metric)
