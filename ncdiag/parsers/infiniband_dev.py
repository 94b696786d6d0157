"""``ls /dev/infiniband``: the device files of the RDMA stack; a container without them has no InfiniBand.

Source of the names: Linux drivers/infiniband/core (uverbs_main.c, user_mad.c, ucma.c). With ``-l`` one line a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision

KIND = "infiniband_dev"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} /dev/infiniband{end}"
    for tool in ("ls", "ls -l", "ls -la", "ls -al", "ls -lh", "ll")
    for end in ("", "/", "/*")
)
_NAME = r"(?:(?:issm|umad|uverbs|ucm)\d{1,3}|rdma_cm|hfi1_\d{1,3}|by-ibdev|by-path)"
ANCHOR = (
    rf"[ \t]{{0,8}}(?:/dev/infiniband/)?{_NAME}(?:[ \t]*$|[ \t]+(?:/dev/infiniband/)?{_NAME}(?:[ \t]|$))"
    r"|ls: cannot access '?/dev/infiniband"
    rf"|[cd][rwx-]{{9}}\S?[ \t].{{0,80}}[ \t](?:/dev/infiniband/)?{_NAME}[ \t]*$"
)

_FILE = re.compile(rf"(?:/dev/infiniband/)?(?P<name>{_NAME})$")
_LONG = re.compile(rf"[cdl][rwx-]{{9}}\S?\s.{{0,120}}\s(?:/dev/infiniband/)?(?P<name>{_NAME}|\.{{1,2}})\s*$")
_ABSENT = re.compile(r"ls: cannot access '?/dev/infiniband/?(?:\*)?'?: No such file or directory")
_NOISE = re.compile(r"total \d+\s*$|/dev/infiniband/?\S*:\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """More names, with or without the columns of ``ls -l``."""
    return _names(line) is not None or _NOISE.match(line) is not None or is_elision(line)


def parse(section: Section) -> Parsed:
    """The names of the device files; an empty listing or a missing folder is known to hold none."""
    names: list[str] = []
    unread: list[int] = []
    first: int | None = None
    elided = False
    for index, line in enumerate(section.lines):
        listed = _names(line)
        if listed is not None:
            names += [name for name in listed if name not in names]
            first = index if first is None else first
        elif is_elision(line):
            elided = True
        elif line.strip() and not _NOISE.match(line):
            unread.append(index)
    devices = [name for name in names if not name.startswith(("by-", "."))]
    if unread or elided or (first is None and section.lines and not _NOISE.match(section.lines[0])):
        return Parsed(
            unread=tuple(unread) if devices else tuple(i for i, line in enumerate(section.lines) if line.strip())
        )
    if first is None:
        where = section.span(0) if section.lines else span(section.source, section.first_line, section.command or "")
        found = Observation(entity="Host", host=section.host, span=where, fields={"infiniband_devices": []})
    else:
        found = observe(section, first, "Host", infiniband_devices=devices)
    return Parsed(observations=(found,))


def _names(line: str) -> list[str] | None:
    """Device files of a line; an empty list when the folder does not exist; None when it is another line."""
    if _ABSENT.match(line):
        return []
    long = _LONG.match(line)
    if long:
        return [long["name"]]
    found = [_FILE.match(word) for word in line.split()]
    return [m["name"] for m in found if m] if found and all(found) else None
