"""``cat /proc/driver/nvidia/version``: the release of the loaded driver, and whether its modules are the open ones.

Source of the format: open-gpu-kernel-modules src/nvidia/arch/nvalloc/unix/src/osapi.c (NVRM version line, pNVRM_ID);
the proprietary driver prints ``Kernel Module`` and the open one ``Open Kernel Module``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "nvidia_version"
COMMANDS: tuple[str, ...] = ("cat /proc/driver/nvidia/version", "head /proc/driver/nvidia/version")
ANCHOR = r"NVRM version: NVIDIA UNIX "

_LINE = re.compile(
    r"NVRM version: NVIDIA UNIX (?P<kind>.{0,40}?Kernel Module).{0,40}?\s(?P<version>\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)\s"
)
_COMPILER = re.compile(r"GCC version:")
_MISSING = re.compile(r"cat: '?/proc/driver/nvidia/version'?: No such file or directory")


def continues(lines: Sequence[str], line: str) -> bool:
    """The driver's line, the compiler's below it; or that there is no such file."""
    if not any(text.strip() for text in lines):
        return _LINE.match(line + " ") is not None or _MISSING.match(line) is not None
    return _COMPILER.match(line) is not None and _COMPILER.match(lines[-1]) is None


def parse(section: Section) -> Parsed:
    """``driver`` and ``open_kernel_module`` of the host; without the file no module of NVIDIA's is loaded."""
    found = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        told = _LINE.match(line + " ")
        if told:
            is_open = "Open" in told["kind"]
            found.append(observe(section, index, "Host", driver=told["version"], open_kernel_module=is_open))
        elif _MISSING.match(line):
            found.append(observe(section, index, "Host", absent_modules=["nvidia"]))
        elif line.strip() and not _COMPILER.match(line):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
