"""``uname -a`` and ``uname -r``: release and machine of the kernel.

Source: GNU coreutils src/uname.c (order of the parts: kernel name, node name, release, version, machine ...); release
strings as Linux distributions make them. The first line of ``/proc/version`` begins with the same words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "uname"
COMMANDS: tuple[str, ...] = ("uname", "uname -a", "uname -r", "cat /proc/version", "cat /proc/sys/kernel/osrelease")
_RELEASE = r"(?P<release>\d{1,2}\.\d{1,4}\.\d{1,4}[\w.+~-]{0,80})"
ANCHOR = rf"Linux (?:version |[\w.-]{{1,64}} ){_RELEASE.replace('?P<release>', '?:')}[ \t]"

_LINE = re.compile(rf"(?:Linux (?:version |[\w.-]{{1,64}} ))?{_RELEASE}(?:\s(?P<rest>.{{0,1000}}))?$")
_MACHINES = ("x86_64", "aarch64", "ppc64le")


def continues(lines: Sequence[str], line: str) -> bool:
    """One line is all there is."""
    return not any(text.strip() for text in lines) and _LINE.match(line.strip()) is not None


def parse(section: Section) -> Parsed:
    """The release, and the machine where the line names it."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        told = _LINE.match(line.strip())
        if told and not found:
            words = (told["rest"] or "").split()
            machine = next((word for word in words if word in _MACHINES), None)
            found.append(observe(section, index, "Host", kernel_release=told["release"], cpu_arch=machine))
        elif line.strip():
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
