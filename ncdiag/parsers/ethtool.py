"""``ethtool <interface>`` (speed, duplex, carrier) and ``ethtool -i`` (driver, firmware, PCI address).

Source of the format: ethtool.c (``Settings for %s:``, dump_link_settings, dump_drvinfo: ``driver: %.*s`` and on).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.scalars import bus_id
from ncdiag.parsers import ethtool_S
from ncdiag.parsers._rows import Reading, Row, Rows, never

KIND = "ethtool"
COMMANDS: tuple[str, ...] = ("ethtool",)
ANCHOR = r"Settings for [A-Za-z][\w.:-]{0,31}:[ \t]*$"

_INFO = r"(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[a-z-]{1,30}): ?(?P<value>.*)$"


class _Settings(Reading):
    """The settings of the interface that the heading or the command names; of each the first value counts."""

    def __init__(self, section: Section) -> None:
        """Nothing is known yet."""
        super().__init__(section)
        self.name, self.start = ethtool_S.interface(section.command), 0
        self.fields: dict[str, Any] = {}

    def _add(self, **fields: Any) -> None:  # noqa: ANN401  (fields of an Interface)
        self.fields = {**fields, **self.fields}

    def heading(self, found: re.Match[str]) -> None:
        """The name of the interface."""
        self.name, self.start = found["name"], self.index

    def speed(self, found: re.Match[str]) -> None:
        """``Unknown!`` where the kernel does not say it, or there is no link."""
        self._add(**({"speed_mbps": int(found["speed"])} if found["speed"] else {"speed_untold": True}))

    def duplex(self, found: re.Match[str]) -> None:
        """Full or half duplex."""
        self._add(duplex=found["duplex"].lower())

    def link(self, found: re.Match[str]) -> None:
        """Whether there is a carrier."""
        self._add(running=found["link"] == "yes")

    def info(self, found: re.Match[str]) -> None:
        """Driver and firmware, of ``-i``."""
        self._add(**found.groupdict())

    def place(self, found: re.Match[str]) -> None:
        """The PCI address, of ``-i``."""
        self._add(bus_id=bus_id(found["bus_id"]))

    def end(self) -> None:
        """All of it as one observation; without a link there is no speed to know."""
        if self.fields.get("running") is False:
            self.fields.pop("speed_untold", None)
        if self.name is None or not self.fields:
            self.found_nothing()
        else:
            self.observe("Interface", (self.name,), at=self.start, **self.fields)


def _indented(_: Sequence[str], line: str) -> bool:
    return line[:1].isspace()


ROWS = Rows(
    _Settings,
    Row(r"Settings for (?P<name>[A-Za-z][\w.:-]{0,31}):\s*$", _Settings.heading, belongs=never),
    Row(r"\s*Speed: (?:(?P<speed>\d{1,8})Mb/s\s*$|Unknown!)", _Settings.speed, belongs=_indented),
    Row(r"\s*Duplex: (?P<duplex>Full|Half)\s*$", _Settings.duplex, belongs=_indented),
    Row(r"\s*Link detected: (?P<link>yes|no)\b", _Settings.link, belongs=_indented),
    Row(r"\s*driver: (?P<driver>\S{1,60})\s*$", _Settings.info),
    Row(r"\s*firmware-version: (?!N/A)(?P<firmware>\S.{0,80}?)\s*$", _Settings.info),
    Row(r"\s*bus-info: (?P<bus_id>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s*$", _Settings.place),
    Row(_INFO),
    Row(r"\s{1,60}\S|netlink error: |Cannot get [\w -]{1,60}: "),
)
