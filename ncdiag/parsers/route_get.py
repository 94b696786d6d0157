"""``ip route get ADDRESS``: by which interface the kernel would send to an address, and that it would not.

Source of the format: iproute2 ip/iproute.c (iproute_get, print_route: the answer is a route with ``src``, ``uid`` and a
line ``cache``), lib/libnetlink.c (``RTNETLINK answers:`` and the text of the errno).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import ip_address
from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "route_get"
_TABLES = ("ip route", "ip r", "ip ro", "ip -4 route", "ip -4 r", "ip -6 route", "ip -6 r", "ip -o route")
COMMANDS: tuple[str, ...] = tuple(f"{table} {word}" for table in _TABLES for word in ("get", "g"))
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]{1,40})"
_REST = rf"(?: from {_ADDRESS})?(?: via (?:inet6 )?{_ADDRESS})? dev [\w.@-]{{1,64}}"
ANCHOR = (
    rf"(?:local )?{_ADDRESS}{_REST}(?: table \w{{1,20}})?(?: proto \w{{1,20}})?(?: src {_ADDRESS})?"
    r" (?:metric \d{1,10} )?uid \d"
)

_ANSWER = (
    rf"\s*(?:(?P<kind>local|broadcast|multicast|unicast|unreachable|prohibit|blackhole|throw) )?(?P<to>{_ADDRESS})"
    rf"(?: from {_ADDRESS})?(?: via (?:inet6 )?(?P<gateway>{_ADDRESS}))?(?: dev (?P<interface>[\w.@-]{{1,64}}))?"
    r"(?:\s|$)"
)
_REFUSED = r"RTNETLINK answers: (?:Network is unreachable|No route to host|Permission denied|Invalid argument)\s*$"
_ASKED = lazy_regex(rf"\bg(?:et)?\s+(?:to\s+)?({_ADDRESS})(?:/\d{{1,3}})?(?:\s|$)")
_REFUSING = frozenset({"unreachable", "prohibit", "blackhole", "throw"})


class _Answer(Reading):
    """``route_answers`` of the host: one, for the first answer."""

    def answer(self, found: re.Match[str]) -> bool:
        """By which interface and gateway, or that nothing is sent."""
        sends = found["kind"] not in _REFUSING
        return self._about(found["to"], **({name: found[name] for name in ("interface", "gateway")} if sends else {}))

    def refused(self, _: re.Match[str]) -> bool:
        """An answer of netlink alone, which is about the address in the command."""
        asked = _ASKED.search(self.section.command or "")
        return asked is not None and self._about(asked[1])

    def _about(self, to: str, **told: str | None) -> bool:
        """False for a second answer, and for what is not an address."""
        if self.found or not ip_address(to):
            return False
        self.observe("Host", route_answers=[{"address": to, **{name: text for name, text in told.items() if text}}])
        return True


ROWS = Rows(
    _Answer,
    Row(_ANSWER, _Answer.answer, belongs=at_start),
    Row(_REFUSED, _Answer.refused, belongs=at_start),
    Row(r"\s+cache\b|\s+(?:mtu|expires|users|ipid) ", belongs=lambda lines, line: not at_start(lines, line)),
)
