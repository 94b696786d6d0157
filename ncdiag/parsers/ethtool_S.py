"""``ethtool -S``: the counters that a driver keeps for an interface.

Source of the format: ethtool.c (do_gstats: ``NIC statistics:``, then five blanks, name, value) and netlink/stats.c
(``Standard stats for eth0:`` and its groups). Some drivers pad the names.
"""  # noqa: N999  (named after the tool's option, as the section kind is)

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never
from ncdiag.parsers._traffic import keep_traffic

KIND = "ethtool_S"
COMMANDS: tuple[str, ...] = ("ethtool -S", "ethtool --statistics")
ANCHOR = (
    r"NIC statistics:[ \t]*$|Standard stats for [\w.:-]{1,32}:[ \t]*$|[ \t]{4,16}[rt]x\d{0,3}_[a-z]\w{2,60}: \d{1,20}$"
)
STRUCTURE = " \t"

_COUNTER = r"\s{0,16}(?P<name>[A-Za-z0-9_\[\]()][\w .,:()\[\]/#-]{0,79}?)\s{0,31}: (?P<value>\d{1,20})\s*$"


class _Counters(Reading):
    """The counters of the interface that the command names, of an unnamed one where there is no command."""

    def __init__(self, section: Section) -> None:
        """No counter was read yet."""
        super().__init__(section)
        self.name = interface(section.command)
        self.counters: dict[str, int] = {}
        self.first = 0

    def heading(self, found: re.Match[str]) -> None:
        """What may name the interface."""
        self.name = self.name or found["name"]

    def counter(self, found: re.Match[str]) -> None:
        """A counter; the first of its name counts."""
        self.first = self.first if self.counters else self.index
        self.counters.setdefault(found["name"], int(found["value"]))

    def end(self) -> None:
        """All of them as one observation."""
        if self.counters and self.name is None:
            self.observe("Host", at=self.first, unnamed_nic_counters=self.counters)
        elif self.counters and self.name is not None:
            self.observe("Interface", (self.name,), at=self.first, counters=self.counters)
            keep_traffic(self, self.name, self.counters, self.first)


ROWS = Rows(
    _Counters,
    Row(_COUNTER, _Counters.counter),
    Row(r"NIC statistics:\s*$|Standard stats for (?P<name>[\w.:-]{1,32}):\s*$", _Counters.heading, belongs=never),
    Row(r"no stats available\s*$|Cannot get stats strings information: .{1,60}$", belongs=never),
    Row(basics.is_elision),
    BLANK,
)


def interface(command: str | None) -> str | None:
    """The interface that a command line of ethtool names; None when it names none."""
    words = re.split(r"[|;&<>]", (command or "")[:4096], maxsplit=1)[0].split()
    programs = [position for position, word in enumerate(words) if word.rsplit("/", 1)[-1] == "ethtool"]
    names = [word for word in words[programs[0] + 1 :] if not word.startswith("-")] if programs else []
    return names[0] if len(names) == 1 and re.fullmatch(r"[A-Za-z][\w.:-]{0,31}", names[0]) else None
