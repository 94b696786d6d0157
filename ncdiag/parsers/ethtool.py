"""``ethtool <interface>`` (speed, duplex, carrier) and ``ethtool -i`` (driver, firmware, PCI address).

Source of the format: ethtool.c (``Settings for %s:``, dump_link_settings, dump_drvinfo: ``driver: %.*s`` and on).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import bus_id
from ncdiag.parsers import ethtool_S

KIND = "ethtool"
COMMANDS: tuple[str, ...] = ("ethtool",)
ANCHOR = r"Settings for [A-Za-z][\w.:-]{0,31}:[ \t]*$"

_SETTINGS = re.compile(r"Settings for (?P<name>[A-Za-z][\w.:-]{0,31}):\s*$")
_INFO = re.compile(
    r"(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[a-z-]{1,30}): ?(?P<value>.*)$"
)
_DETAIL = re.compile(r"\s{1,60}\S|netlink error: |Cannot get [\w -]{1,60}: ")
_SPEED = re.compile(r"\s*Speed: (?P<speed>\d{1,8})Mb/s\s*$")
_SPEED_UNTOLD = re.compile(r"\s*Speed: Unknown!")
_DUPLEX = re.compile(r"\s*Duplex: (?P<duplex>Full|Half)\s*$")
_LINK = re.compile(r"\s*Link detected: (?P<link>yes|no)\b")
_PATTERNS = {
    "driver": re.compile(r"\s*driver: (\S{1,60})\s*$"),
    "firmware": re.compile(r"\s*firmware-version: (?!N/A)(\S.{0,80}?)\s*$"),
    "bus_id": re.compile(r"\s*bus-info: ([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s*$"),
}


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented settings, and the lines of ``-i``."""
    if _SETTINGS.match(line) or not line.strip():
        return False
    return _DETAIL.match(line) is not None or _INFO.match(line) is not None


def parse(section: Section) -> Parsed:
    """What is told of the interface that the heading or the command names."""
    name = ethtool_S.interface(section.command)
    start, fields = 0, dict[str, Any]()
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        heading = _SETTINGS.match(line)
        if heading:
            name, start = heading["name"], index
            continue
        told = dict(_told(line))
        fields = {**told, **fields}
        if not told and line.strip() and not _INFO.match(line) and not _DETAIL.match(line):
            unread.append(index)
    if fields.get("running") is False:
        fields.pop("speed_untold", None)
    if name is None or not fields:
        return Parsed(unread=tuple(i for i, line in enumerate(section.lines) if line.strip()))
    found: tuple[Observation, ...] = (observe(section, start, "Interface", (name,), **fields),)
    return Parsed(observations=found, unread=tuple(unread))


def _told(line: str) -> Iterator[tuple[str, Any]]:
    """Fields of an Interface; an unknown speed (``Unknown!``) is one that the kernel does not tell, or no link."""
    if speed := _SPEED.match(line):
        yield "speed_mbps", int(speed["speed"])
    elif _SPEED_UNTOLD.match(line):
        yield "speed_untold", True
    elif duplex := _DUPLEX.match(line):
        yield "duplex", duplex["duplex"].lower()
    elif link := _LINK.match(line):
        yield "running", link["link"] == "yes"
    for field, pattern in _PATTERNS.items():
        found = pattern.match(line)
        if found:
            yield field, bus_id(found[1]) if field == "bus_id" else found[1]
