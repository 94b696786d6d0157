"""``cat /proc/driver/nvidia/version``: the release of the loaded driver, and whether its modules are the open ones.

Source of the format: open-gpu-kernel-modules src/nvidia/arch/nvalloc/unix/src/osapi.c (NVRM version line, pNVRM_ID);
the proprietary driver prints ``Kernel Module`` and the open one ``Open Kernel Module``.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "nvidia_version"
COMMANDS: tuple[str, ...] = ("cat /proc/driver/nvidia/version", "head /proc/driver/nvidia/version")
ANCHOR = r"NVRM version: NVIDIA UNIX "


def _driver(read: Reading, told: re.Match[str]) -> None:
    """``driver`` and ``open_kernel_module`` of the host."""
    read.observe("Host", driver=told["version"], open_kernel_module="Open" in told["kind"])


def _absent(read: Reading, _: re.Match[str]) -> None:
    """Without the file no module of NVIDIA's is loaded."""
    read.observe("Host", absent_modules=["nvidia"])


ROWS = Rows(
    Reading,
    Row(
        r"NVRM version: NVIDIA UNIX (?P<kind>.{0,40}?Kernel Module).{0,40}?"
        r"\s(?P<version>\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)(?:\s|$)",
        _driver,
        belongs=at_start,
    ),
    Row(r"cat: '?/proc/driver/nvidia/version'?: No such file or directory", _absent, belongs=at_start),
    Row(
        r"GCC version:",
        belongs=lambda lines, _: any(text.strip() for text in lines) and not lines[-1].startswith("GCC version:"),
    ),
)
