"""``ls /sys/class/infiniband``: the RDMA devices that the kernel has drivers for; with ``-l`` their PCI addresses.

Source: Linux drivers/infiniband/core/device.c (the class ``infiniband``, a link for each device into /sys/devices),
Documentation/ABI/stable/sysfs-class-infiniband. Without any RDMA driver the folder does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts import scalars
from ncdiag.formats.basics import arguments
from ncdiag.parsers._rows import ELISION, Reading, Row, Rows, at_start, first_line

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

_LONG = lazy_regex(r"l[rwx-]{9}\S?\s.{0,80}\s(?P<name>[\w.-]{1,64}) -> (?P<path>\S{0,400}/)infiniband/[\w.-]{1,64}\s*$")
_ABSENT = lazy_regex(r"ls: cannot access '?/sys/class/infiniband/?\*?'?: No such file or directory")
_NAMES = lazy_regex(r"[A-Za-z][\w.-]{0,63}(?:\s+[A-Za-z][\w.-]{0,63}){0,200}\s*$")
_NAME = lazy_regex(r"[A-Za-z][A-Za-z0-9-]{0,30}(?:_\w{1,30}){0,4}$")
_NOISE = r"total \d+\s*$|/sys/class/infiniband/?:\s*$|[dl][rwx-]{9}\S?\s.{0,80}\s\.{1,2}(?: -> \S{1,300})?\s*$"
_BUS = lazy_regex(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)")


class _Devices(Reading):
    """The devices, with their bus ids after ``-l``; complete where the folder alone was listed."""

    is_absent = False

    def device(self, found: re.Match[str]) -> None:
        """A link of ``ls -l``."""
        bus = _BUS.findall(found["path"])
        self.observe("Hca", (found["name"],), bus_id=scalars.bus_id(bus[-1]) if bus else None)

    def absent(self, _: re.Match[str]) -> None:
        """There is no such folder."""
        self.is_absent = True

    def devices(self, names: list[str]) -> bool:
        """Names in columns, which are those of devices only after the command."""
        if self.section.command is None:
            return False
        for name in names:
            self.observe("Hca", (name,))
        return True

    def complete(self) -> bool:
        """All devices of the folder, or none where it does not exist."""
        command = self.section.command or f"ls {_FOLDER}"
        listed = arguments(command, command.split()[0].rsplit("/", 1)[-1])
        whole = listed is not None and sum(not word.startswith("-") for word in listed) == 1
        return whole and not self.unread and (self.is_absent or bool(self.found))


def _names(line: str) -> list[str] | None:
    """The devices of a line of ``ls``; None when it is another line."""
    words = line.split()
    return words if _NAMES.match(line) and all(map(_NAME.match, words)) else None


def _in_columns(lines: Sequence[str], line: str) -> bool:
    """Below other names, or the command."""
    first = "" if at_start(lines, line) else first_line(lines, line)
    return not _LONG.match(first) and not _ABSENT.match(first)


ROWS = Rows(
    _Devices,
    Row(_LONG.pattern, _Devices.device),
    ELISION,
    Row(_ABSENT.pattern, _Devices.absent, belongs=at_start),
    Row(_names, _Devices.devices, belongs=_in_columns),
    Row(_NOISE),
    most=301,
)
