"""Routing tables: ``ip route``, ``route -n`` and ``netstat -rn``.

Format: iproute2, ip/iproute.c (``print_route``: ``destination via gateway dev interface ... metric n``, nexthops of one
route on lines below it); net-tools, lib/inet_gr.c (columns under ``Destination Gateway Genmask Flags``). Destinations
become CIDR texts or ``default``. The answer to ``ip route get`` is not a route of the table: `route_get` reads it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import basics
from ncdiag.parsers._interface import prefix_length
from ncdiag.parsers._rows import Reading, Row, Rows, after_text, not_again, not_understood

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
_ROUTE = lazy_regex(rf"\s*(?P<type>{_TYPES})(?P<to>default|{_ADDRESS}(?:/\d{{1,3}})?)(?P<rest>\s.*)?$")
_CACHED = lazy_regex(r"\s+cache\b")
_COLUMNS = (8, 11)
"""``route -n`` and ``route -nee``, which adds MSS, window and round trip."""
_COLUMNS_6 = 7
_LINE_LIMIT = 1024
_NOT_UNICAST = ("unreachable", "blackhole", "prohibit", "local", "broadcast", "multicast", "anycast", "throw")


class _Table(Reading):
    """An observation a route; complete when the table was asked for as a whole and nothing was left out."""

    titled = windows = False
    to = "default"

    def title(self, _: re.Match[str]) -> None:
        """Above the columns, which may be those of ``netstat`` with the MSS for a metric."""
        self.titled = True
        self.windows = self.windows or (" MSS " in self.line and " Metric " not in self.line)

    def row(self, found: tuple[str, str, str | None, int | None]) -> None:
        """A route in columns."""
        self._route(*found[:3], None if self.windows else found[3])

    def hop(self, found: re.Match[str]) -> None:
        """One more way of the route above."""
        self._words(found["rest"])

    def route(self, found: re.Match[str]) -> None:
        """A route in words."""
        self.to = _cidr(found["to"])
        if " dev " in f"{found['rest']} " and found["type"].strip() not in _NOT_UNICAST:
            self._words(found["rest"])

    def end(self) -> None:
        """The answer about one address is not a route of the table."""
        if re.search(r"\bget\b", self.section.command or "") or any(map(_CACHED.match, self.section.lines)):
            self.found.clear()
            self.unread.clear()

    def complete(self) -> bool:
        """The whole table."""
        asked = self.titled or (self.section.command is not None and _asked_all(self.section.command))
        return asked and bool(self.found) and not self.unread

    def _words(self, text: str) -> None:
        words = text.split()
        values = {word: words[at + 1] for at, word in enumerate(words[:-1]) if word in {"via", "dev", "metric"}}
        if values.get("via") in {"inet", "inet6"}:  # an IPv4 route over an IPv6 gateway
            values["via"] = words[words.index("via") + 2] if len(words) > words.index("via") + 2 else ""
        self._route(self.to, values.get("dev"), values.get("via"), basics.number(values.get("metric", "")))

    def _route(self, to: str, interface: str | None, gateway: str | None, metric: int | None) -> None:
        self.observe("Route", (to, interface), gateway=gateway, metric=metric)


def _asked_all(command: str) -> bool:
    if re.search(r"\bip\b", command):
        return basics.unfiltered(command, "ip", ("-4", "route", "r", "ro", "show", "list", "s", "ls"))
    return basics.unfiltered(command, "route", ("-n",))


def _is_route(line: str) -> re.Match[str] | None:
    """A route in words; None for a neighbour, and for another line."""
    found = _ROUTE.match(line)
    if not found or re.search(_NEIGHBOUR, line):
        return None
    rest = found["rest"] or ""
    words = re.match(r"\s+(?:via|dev|proto|scope|metric|src|table|nhid|equalize)\s", rest)
    return found if words or not rest.strip() else None


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


def _goes_on(lines: Sequence[str], line: str) -> bool:
    """Nothing goes on after a blank line; the first line once more is the table of another host."""
    return after_text(lines, line) and not_again(lines, line)


ROWS = Rows(
    _Table,
    Row(
        r"\s*Kernel IP(?:v6)? routing table|\s*Destination\s+(?:Gateway|Next Hop)\s|\s+cache\b",
        _Table.title,
        belongs=_goes_on,
    ),
    Row(_row, _Table.row, belongs=_goes_on),
    Row(r"\s+nexthop (?P<rest>.*)$", _Table.hop, belongs=_goes_on),
    Row(_is_route, _Table.route, belongs=_goes_on),
    Row(basics.is_elision, not_understood, belongs=_goes_on),
    longest=_LINE_LIMIT,
)
