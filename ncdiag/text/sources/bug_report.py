"""NVIDIA's bug report (``nvidia-bug-report.log.gz``), split into the commands and files that it contains.

Source of the format: nvidia-bug-report.sh of the driver (report_file, report_command; releases 304 to 580): after a
line of 44 underscores comes ``*** PATH`` with the line of ``ls``, or a command, then its output. Each heading is
replaced by a prompt with the command, or ``cat`` and the file, so that the cutter finds the outputs; the number of
lines does not change. Binary parts become empty lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex

_MARK = b"Start of NVIDIA bug report log file"
_HEAD = 1 << 14
"""Number of bytes at the start of a source in which a bug report identifies itself."""
_UNAME = lazy_regex(rb"^uname: Linux ([\w.-]{1,64}) ", re.MULTILINE)
_NAMING = b"uname: "
_RULE = lazy_regex(rb"_{44}\s*$")
_FILE = lazy_regex(rb"\*\*\* (/\S{1,400})\s*$")
_DETAILS = b"*** ls: "
_COMMAND = lazy_regex(
    rb"(?:/[\w./-]{1,100}/)?(dmesg|dmidecode|ibstat|iblinkinfo|ibnetdiscover|journalctl|lspci|nvidia-imex-ctl|nvidia-smi"
    rb"|systemctl)((?: [\w.,=/\"*:-]{1,100}){0,12}):?\s*$"
)
_SCANNED = lazy_regex(rb"  (?:(journalctl -b -\d)|(/var/log/[\w./-]{1,60})):\s*$")
"""Headings above lines about the driver that were found in the kernel's logs."""
_BINARY = lazy_regex(rb"[A-Za-z0-9+/]{76}\s*$|[A-Za-z0-9+/]{8,75}==?\s*$|[0-9a-f]{2,3}:(?: [0-9a-f]{2}){16}\s*$")
"""Lines of base64, and of lspci's dump of the configuration space."""


def prompted(buffers: Iterable[bytes]) -> Iterator[bytes]:
    """The line-aligned buffers of a source; in a bug report, headings are replaced by prompts."""
    report: _Report | None = None
    for number, buffer in enumerate(buffers):
        if number == 0 and _MARK in buffer[:_HEAD]:
            report = _Report(buffer[:_HEAD])
        yield buffer if report is None else report.prompted(buffer)


class _Report:
    """The state while a report is read: whether the next line may be a heading."""

    def __init__(self, head: bytes) -> None:
        """``head`` are the first lines, which contain the name of the host."""
        uname = _UNAME.search(head)
        host = uname[1].split(b".")[0] if uname else b""
        self._prompt = b"[root@" + host + b" ~]# " if host else b"$ "
        self._begins = False

    def prompted(self, buffer: bytes) -> bytes:
        """The buffer with prompts instead of headings."""
        return b"\n".join(map(self._line, buffer.split(b"\n")))

    def _line(self, line: bytes) -> bytes:
        if not line.strip() or _RULE.match(line):
            self._begins = True
            return line if not line.strip() else b""
        begins, self._begins = self._begins, False
        file = _FILE.match(line) if begins else None
        command = _COMMAND.match(line) if begins else None
        if file:
            return self._prompt + b"cat " + file[1]
        if command:
            return self._prompt + command[1] + command[2]
        if scanned := _SCANNED.match(line):
            return self._prompt + (scanned[1] or b"dmesg < " + scanned[2])
        if line.startswith(_NAMING):
            return line.removeprefix(_NAMING)
        return b"" if line.startswith(_DETAILS) or _BINARY.match(line) else line
