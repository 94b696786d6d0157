"""``uname -a``, ``uname -r``, ``uname -m`` and ``arch``: release and machine of the kernel.

Source: GNU coreutils src/uname.c (order of the parts: kernel name, node name, release, version, machine ...); release
strings as Linux distributions make them. The first line of ``/proc/version`` begins with the same words.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "uname"
COMMANDS: tuple[str, ...] = (
    "uname", "uname -a", "uname -r", "uname -m", "arch", "cat /proc/version", "cat /proc/sys/kernel/osrelease",
)  # fmt: skip
_RELEASE = r"(?P<release>\d{1,2}\.\d{1,4}\.\d{1,4}[\w.+~-]{0,80})"
ANCHOR = rf"Linux (?:version |[\w.-]{{1,64}} ){_RELEASE.replace('?P<release>', '?:')}[ \t]"

_MACHINES = ("x86_64", "aarch64", "ppc64le")


def _kernel(read: Reading, told: re.Match[str]) -> bool:
    """The release, and the machine where the line names it; False for a second line."""
    if read.found:
        return False
    words = (told["rest"] or "").split()
    machine = next((word for word in words if word in _MACHINES), None)
    read.observe("Host", kernel_release=told["release"], cpu_arch=machine)
    return True


def _machine(read: Reading, told: re.Match[str]) -> bool:
    """The machine alone."""
    if read.found:
        return False
    read.observe("Host", cpu_arch=told[1])
    return True


ROWS = Rows(
    Reading,
    Row(
        rf"\s*(?:Linux (?:version |[\w.-]{{1,64}} ))?{_RELEASE}(?:\s(?P<rest>.{{0,1000}}))?$", _kernel, belongs=at_start
    ),
    Row(rf"\s{{0,8}}({'|'.join(_MACHINES)})\s*$", _machine, belongs=at_start),
)
