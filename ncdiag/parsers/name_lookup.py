"""``cat /etc/hosts``, ``getent hosts NAME``, ``hostname -i``: the address that a machine finds for the name of a host.

Sources of the formats: hosts(5), getent(1) (an address, blanks, names), hostname(1) (the addresses of its own name).
Debian and Ubuntu write 127.0.1.1 and the own name of the machine into /etc/hosts (debian-policy, installer netcfg).
"""

from __future__ import annotations

import ipaddress
import re

from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "name_lookup"
EVENTS = {"name-resolved": {"host_name": "str", "address": "str"}}
_OWN = ("hostname -i", "hostname --ip-address")
COMMANDS: tuple[str, ...] = ("cat /etc/hosts", "getent hosts", "getent ahosts", "getent ahostsv4", *_OWN)
ANCHOR = r"127\.0\.(?:0|1)\.1[ \t]{1,40}[A-Za-z][\w.-]{0,80}(?:[ \t]{1,40}[A-Za-z][\w.-]{0,80}){0,6}[ \t]*$"

_NAME = r"[A-Za-z0-9][\w.-]{0,252}"
_ENTRY = (
    r"(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]{2,39}(?:%\w{1,15})?)[ \t]{1,40}"
    rf"(?P<names>(?:(?:STREAM|DGRAM|RAW)[ \t]*)?(?:{_NAME}(?:[ \t]{{1,40}}{_NAME}){{0,8}})?)[ \t]*(?:#.*)?$"
)
_SOCKETS = frozenset({"STREAM", "DGRAM", "RAW"})
"""What ``getent ahosts`` prints between address and name."""
_LIMIT = 2000


def _entry(read: Reading, entry: re.Match[str]) -> bool:
    """An event for each name of an entry; False where what it begins with is not an address."""
    if not _is_address(entry["address"]):
        return False
    for name in entry["names"].split():
        if name not in _SOCKETS:
            read.observe(
                "Event", event="name-resolved", origin="app", kind="fact", text=read.line[:400].strip(), count=1,
                order=read.section.number(read.index), fields={"host_name": name, "address": entry["address"]},
            )  # fmt: skip
    return True


def _own(read: Reading, found: re.Match[str]) -> bool:
    """An event for the first address of the machine's own name, after the command that asks for it."""
    if not (read.section.command or "").startswith(_OWN) or not _is_address(found["own"]):
        return False
    read.observe(
        "Event", event="name-resolved", origin="app", kind="fact", text=read.line[:400].strip(), count=1,
        order=read.section.number(read.index), fields={"host_name": read.section.host or "", "address": found["own"]},
    )  # fmt: skip
    return True


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


ROWS = Rows(
    Reading,
    Row(_ENTRY, _entry),
    Row(r"(?P<own>[0-9a-f.:]{3,39})(?:\s+[0-9a-f.:]{3,39}){0,8}\s*$", _own),
    Row(r"\s*(?:#.*)?$", belongs=lambda lines, _: bool(lines)),
    most=_LIMIT,
)
