"""``sysctl -a`` and ``sysctl NAME...``: kernel parameters as ``name = value``.

Source: procps sysctl(8) (``name = value``, with -n the value alone, which tells nothing here); BusyBox prints the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "sysctl"
COMMANDS: tuple[str, ...] = ("sysctl",)
_NAME = r"(?:abi|crypto|debug|dev|fs|kernel|net|sunrpc|user|vm)[./][\w][\w./@-]{1,120}"
ANCHOR = rf"[ \t]{{0,8}}{_NAME}[ \t]?=[ \t]?\S"

_LINE = re.compile(rf"\s{{0,8}}(?P<name>{_NAME})\s?=\s?(?P<value>.*)$")
_NOISE = re.compile(r"sysctl: |\* Applying /")
_LIMIT = 5000


def continues(lines: Sequence[str], line: str) -> bool:
    """More parameters, and what sysctl says of those that it may not read."""
    return len(lines) < _LIMIT and (_LINE.match(line) is not None or _NOISE.match(line) is not None)


def parse(section: Section) -> Parsed:
    """The parameters of the host by name, runs of blanks as one."""
    values: dict[str, str] = {}
    first = None
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _LINE.match(line)
        if found:
            values[found["name"].replace("/", ".")] = " ".join(found["value"].split())
            first = index if first is None else first
        elif line.strip() and not _NOISE.match(line):
            unread.append(index)
    if first is None:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, first, "Host", sysctls=values),), unread=tuple(unread))
