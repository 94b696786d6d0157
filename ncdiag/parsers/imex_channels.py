"""``ls /dev/nvidia-caps-imex-channels``: the channels of NVIDIA's IMEX that programs here may open.

Source: open-gpu-kernel-modules kernel-open/nvidia/nv-caps-imex.c (``nvidia-caps-imex-channels/channel%d``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats.basics import is_elision

KIND = "imex_channels"
_FOLDER = "/dev/nvidia-caps-imex-channels"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} {_FOLDER}{end}" for tool in ("ls", "ls -l", "ls -la", "ls -al", "ll") for end in ("", "/", "/*")
)
ANCHOR = (
    r"c[rwx-]{9}\S?[ \t].{0,80}[ \t](?:/dev/nvidia-caps-imex-channels/)?channel\d{1,5}[ \t]*$"
    r"|ls: cannot access '?/dev/nvidia-caps-imex-channels"
)

_LONG = re.compile(r"c[rwx-]{9}\S?\s.{0,80}\s(?:/dev/nvidia-caps-imex-channels/)?(?P<name>channel\d{1,5})\s*$")
_SHORT = re.compile(r"(?:(?:/dev/nvidia-caps-imex-channels/)?channel\d{1,5}(?:\s+|$)){1,400}$")
_ABSENT = re.compile(r"ls: cannot access '?/dev/nvidia-caps-imex-channels/?\*?'?: No such file or directory")
_NOISE = re.compile(r"total \d+\s*$|/dev/nvidia-caps-imex-channels/?:\s*$|d[rwx-]{9}\S?\s.{0,80}\s\.{1,2}\s*$")
_LIMIT = 4096


def continues(lines: Sequence[str], line: str) -> bool:
    """Channels, with or without the columns of ``ls -l``."""
    known = any(pattern.match(line) for pattern in (_LONG, _SHORT, _NOISE, _ABSENT)) or is_elision(line)
    return known and len(lines) < _LIMIT


def parse(section: Section) -> Parsed:
    """``imex_channels`` of the host; none where the folder is empty or missing."""
    names: list[str] = []
    unread: list[int] = []
    elided = False
    for index, line in enumerate(section.lines):
        long = _LONG.match(line)
        if long:
            names.append(long["name"])
        elif _SHORT.match(line):
            names += [word.rpartition("/")[2] for word in line.split()]
        elif is_elision(line):
            elided = True
        elif line.strip() and not _NOISE.match(line) and not _ABSENT.match(line):
            unread.append(index)
    if unread or (elided and not names) or not section.lines:
        return Parsed(unread=tuple(unread))
    where = span(section.source, section.first_line, section.lines[0])
    fields = {"imex_channels": names}
    return Parsed(observations=(Observation(entity="Host", host=section.host, span=where, fields=fields),))
