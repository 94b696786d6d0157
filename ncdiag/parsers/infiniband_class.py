"""``ls /sys/class/infiniband``: the RDMA devices that the kernel has drivers for; with ``-l`` their PCI addresses.

Source: Linux drivers/infiniband/core/device.c (the class ``infiniband``, a link for each device into /sys/devices),
Documentation/ABI/stable/sysfs-class-infiniband. Without any RDMA driver the folder does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts import scalars
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import arguments, is_elision

KIND = "infiniband_class"
_FOLDER = "/sys/class/infiniband"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} {_FOLDER}{end}"
    for tool in ("ls", "ls -1", "ls -l", "ls -la", "ls -al", "ls -lh", "ll")
    for end in ("", "/", "/*")
)
ANCHOR = (
    r"l[rwx-]{9}\S?[ \t].{0,80} [\w.-]{1,64} -> (?:\.\./){2}devices/\S{1,300}/infiniband/[\w.-]{1,64}[ \t]*$"
    r"|ls: cannot access '?/sys/class/infiniband'?/?\*?'?: No such file"
)

_LONG = re.compile(r"l[rwx-]{9}\S?\s.{0,80}\s(?P<name>[\w.-]{1,64}) -> (?P<path>\S{0,400}/)infiniband/[\w.-]{1,64}\s*$")
_ABSENT = re.compile(r"ls: cannot access '?/sys/class/infiniband/?\*?'?: No such file or directory")
_NAMES = re.compile(r"[A-Za-z][\w.-]{0,63}(?:\s+[A-Za-z][\w.-]{0,63}){0,200}\s*$")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,30}(?:_\w{1,30}){0,4}$")
_NOISE = re.compile(
    r"total \d+\s*$|/sys/class/infiniband/?:\s*$|[dl][rwx-]{9}\S?\s.{0,80}\s\.{1,2}(?: -> \S{1,300})?\s*$"
)
_BUS = re.compile(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)")
_LINES = 300


def continues(lines: Sequence[str], line: str) -> bool:
    """Names of devices: behind ``ls`` in columns, behind ``ls -l`` one link a line."""
    if len(lines) > _LINES or not line.strip():
        return False
    if _LONG.match(line) or _NOISE.match(line) or is_elision(line):
        return True
    first = next((text for text in lines if text.strip()), "")
    if not first:
        return _ABSENT.match(line) is not None or _names(line) is not None
    return not _LONG.match(first) and not _ABSENT.match(first) and _names(line) is not None


def parse(section: Section) -> Parsed:
    """The devices, with their bus ids behind ``-l``; complete where the folder alone was listed."""
    found: list[Observation] = []
    unread: list[int] = []
    absent = False
    for index, line in enumerate(section.lines):
        long, names = _LONG.match(line), _names(line)
        if long:
            bus = _BUS.findall(long["path"])
            found.append(
                observe(section, index, "Hca", (long["name"],), bus_id=scalars.bus_id(bus[-1]) if bus else None)
            )
        elif _ABSENT.match(line):
            absent = True
        elif names is not None and section.command is not None:
            found += [observe(section, index, "Hca", (name,)) for name in names]
        elif line.strip() and not _NOISE.match(line):
            unread.append(index)
    listed = arguments(section.command or f"ls {_FOLDER}", (section.command or "ls").split()[0].rsplit("/", 1)[-1])
    whole = listed is not None and sum(not word.startswith("-") for word in listed) == 1
    return Parsed(
        observations=tuple(found), unread=tuple(unread), complete=whole and not unread and (absent or bool(found))
    )


def _names(line: str) -> list[str] | None:
    """The devices of a line of ``ls``; None when it is another line."""
    words = line.split()
    return words if _NAMES.match(line) and all(map(_NAME.match, words)) else None
