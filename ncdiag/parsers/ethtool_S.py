"""``ethtool -S``: the counters that a driver keeps for an interface.

Source of the format: ethtool.c (do_gstats: ``NIC statistics:``, then five blanks, name, value) and netlink/stats.c
(``Standard stats for eth0:`` and its groups). Some drivers pad the names.
"""  # noqa: N999  (named after the tool's option, as the section kind is)

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics

KIND = "ethtool_S"
COMMANDS: tuple[str, ...] = ("ethtool -S", "ethtool --statistics")
ANCHOR = (
    r"NIC statistics:[ \t]*$|Standard stats for [\w.:-]{1,32}:[ \t]*$|[ \t]{4,16}[rt]x\d{0,3}_[a-z]\w{2,60}: \d{1,20}$"
)
STRUCTURE = " \t"

_COUNTER = re.compile(r"\s{0,16}(?P<name>[A-Za-z0-9_\[\]()][\w .,:()\[\]/#-]{0,79}?)\s{0,31}: (?P<value>\d{1,20})\s*$")
_HEADING = re.compile(r"NIC statistics:\s*$|Standard stats for (?P<name>[\w.:-]{1,32}):\s*$")
_NONE = re.compile(r"no stats available\s*$|Cannot get stats strings information: .{1,60}$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented names with a number."""
    if _HEADING.match(line) or _NONE.match(line):
        return False
    return not line.strip() or _COUNTER.match(line) is not None or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """The counters of the interface that the command names, of an unnamed one where there is no command."""
    counters: dict[str, int] = {}
    unread: list[int] = []
    first: int | None = None
    name = interface(section.command)
    for index, line in enumerate(section.lines):
        found = _COUNTER.match(line)
        if found:
            counters.setdefault(found["name"], int(found["value"]))
            first = index if first is None else first
        elif heading := _HEADING.match(line):
            name = name or heading["name"]
        elif line.strip() and not _NONE.match(line) and not basics.is_elision(line):
            unread.append(index)
    if first is None:
        return Parsed(unread=tuple(unread))
    if name is None:
        seen = observe(section, first, "Host", unnamed_nic_counters=counters)
    else:
        seen = observe(section, first, "Interface", (name,), counters=counters)
    return Parsed(observations=(seen,), unread=tuple(unread))


def interface(command: str | None) -> str | None:
    """The interface that a command line of ethtool names; None when it names none."""
    words = re.split(r"[|;&<>]", (command or "")[:4096], maxsplit=1)[0].split()
    programs = [position for position, word in enumerate(words) if word.rsplit("/", 1)[-1] == "ethtool"]
    names = [word for word in words[programs[0] + 1 :] if not word.startswith("-")] if programs else []
    return names[0] if len(names) == 1 and re.fullmatch(r"[A-Za-z][\w.:-]{0,31}", names[0]) else None
