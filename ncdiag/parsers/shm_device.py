"""``stat -c %d /dev/shm``: the device number of /dev/shm, by which two containers share it or do not.

Source: GNU coreutils src/stat.c (``%d``: device number in decimal).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "shm_device"
COMMANDS: tuple[str, ...] = (
    "stat -c %d /dev/shm",
    "stat -c '%d' /dev/shm",
    'stat -c "%d" /dev/shm',
    "stat --format=%d /dev/shm",
)
ANCHOR = r"(?!)"  # a number alone: only its command says what it is

_NUMBER = re.compile(r"\d{1,18}\s*$")
_SHM = "/dev/shm"  # noqa: S108  (it is the subject, no temporary file)


def continues(lines: Sequence[str], line: str) -> bool:
    """One number is all there is."""
    return not any(text.strip() for text in lines) and _NUMBER.match(line) is not None


def parse(section: Section) -> Parsed:
    """``device`` of the mount."""
    told = [index for index, line in enumerate(section.lines) if line.strip()]
    if section.command is None or len(told) != 1 or not _NUMBER.match(section.lines[told[0]]):
        return Parsed(unread=tuple(told))
    return Parsed(observations=(observe(section, told[0], "Mount", (_SHM,), device=int(section.lines[told[0]])),))
