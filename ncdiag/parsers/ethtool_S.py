"""``ethtool -S``: the counters that a driver keeps for an interface.

Source of the format: ethtool.c (do_gstats: ``NIC statistics:``, then five blanks, name, value).
"""  # noqa: N999  (named after the tool's option, as the section kind is)

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.facts.observe import Parsed, observe
from ncdiag.parsers import _shared
from ncdiag.spans import Section

KIND = "ethtool_S"
COMMANDS: tuple[str, ...] = ("ethtool -S", "ethtool --statistics")
ANCHOR = r"NIC statistics:[ \t]*$"

_COUNTER = re.compile(r"\s{0,16}(?P<name>[A-Za-z0-9_\[\]()][\w .,:()\[\]/-]{0,79}?)\s?: (?P<value>\d{1,20})\s*$")
_HEADING = re.compile(r"NIC statistics:\s*$|no stats available\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented names with a number."""
    if _HEADING.match(line):
        return False
    return not line.strip() or _COUNTER.match(line) is not None or _shared.is_elision(line)


def parse(section: Section) -> Parsed:
    """The counters of the interface that the command names, of an unnamed one where there is no command."""
    counters: dict[str, int] = {}
    unread: list[int] = []
    first: int | None = None
    for index, line in enumerate(section.lines):
        found = _COUNTER.match(line)
        if found:
            counters.setdefault(found["name"], int(found["value"]))
            first = index if first is None else first
        elif line.strip() and not _HEADING.match(line) and not _shared.is_elision(line):
            unread.append(index)
    if first is None:
        return Parsed(unread=tuple(unread))
    name = interface(section.command)
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
