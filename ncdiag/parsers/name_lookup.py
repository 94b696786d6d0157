"""``cat /etc/hosts`` and ``getent hosts NAME``: which address a machine finds for the name of a host.

Sources of the formats: hosts(5), getent(1) (an address, blanks, names). Debian and Ubuntu write 127.0.1.1 and the own
name of the machine into /etc/hosts (debian-policy, installer netcfg).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "name_lookup"
EVENTS = {"name-resolved": {"host_name": "str", "address": "str"}}
COMMANDS: tuple[str, ...] = ("cat /etc/hosts", "getent hosts", "getent ahosts", "getent ahostsv4")
ANCHOR = r"127\.0\.(?:0|1)\.1[ \t]{1,40}[A-Za-z][\w.-]{0,80}(?:[ \t]{1,40}[A-Za-z][\w.-]{0,80}){0,6}[ \t]*$"

_NAME = r"[A-Za-z0-9][\w.-]{0,252}"
_ENTRY = re.compile(
    r"(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]{2,39}(?:%\w{1,15})?)[ \t]{1,40}"
    rf"(?P<names>(?:(?:STREAM|DGRAM|RAW)[ \t]*)?(?:{_NAME}(?:[ \t]{{1,40}}{_NAME}){{0,8}})?)[ \t]*(?:#.*)?$"
)
_COMMENT = re.compile(r"\s*(?:#.*)?$")
_SOCKETS = frozenset({"STREAM", "DGRAM", "RAW"})
"""What ``getent ahosts`` prints between address and name."""
_LIMIT = 2000


def continues(lines: Sequence[str], line: str) -> bool:
    """Entries, comments and empty lines between them."""
    return len(lines) < _LIMIT and (
        _ENTRY.match(line) is not None or (bool(lines) and _COMMENT.match(line) is not None)
    )


def parse(section: Section) -> Parsed:
    """An event for each name of an entry."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        entry = _ENTRY.match(line)
        if entry is None or not _is_address(entry["address"]):
            if not _COMMENT.match(line):
                unread.append(index)
            continue
        for name in entry["names"].split():
            if name not in _SOCKETS:
                fields = {"host_name": name, "address": entry["address"]}
                found.append(
                    observe(
                        section, index, "Event", event="name-resolved", origin="app", kind="fact",
                        text=line[:400].strip(), count=1, order=section.number(index), fields=fields,
                    )
                )  # fmt: skip
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
