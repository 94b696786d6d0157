"""``ls /dev/nvidia-caps-imex-channels``: the channels of NVIDIA's IMEX that programs here may open.

Source: open-gpu-kernel-modules kernel-open/nvidia/nv-caps-imex.c (``nvidia-caps-imex-channels/channel%d``).
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats.basics import is_elision
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "imex_channels"
_FOLDER = "/dev/nvidia-caps-imex-channels"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} {_FOLDER}{end}" for tool in ("ls", "ls -l", "ls -la", "ls -al", "ll") for end in ("", "/", "/*")
)
ANCHOR = (
    r"c[rwx-]{9}\S?[ \t].{0,80}[ \t](?:/dev/nvidia-caps-imex-channels/)?channel\d{1,5}[ \t]*$"
    r"|ls: cannot access '?/dev/nvidia-caps-imex-channels"
)

_LONG = r"c[rwx-]{9}\S?\s.{0,80}\s(?:/dev/nvidia-caps-imex-channels/)?(?P<name>channel\d{1,5})\s*$"
_LIMIT = 4096


class _Channels(Reading):
    """``imex_channels`` of the host; none where the folder is empty or missing."""

    def __init__(self, section: Section) -> None:
        """No channel was read yet."""
        super().__init__(section)
        self.names: list[str] = []

    def long(self, found: re.Match[str]) -> None:
        """A line of ``ls -l``."""
        self.names.append(found["name"])

    def short(self, _: re.Match[str]) -> None:
        """Names alone."""
        self.names += [word.rpartition("/")[2] for word in self.line.split()]

    def end(self) -> None:
        """All of them as one observation; nothing where a line was not understood, or all lines were left out."""
        lines = self.section.lines
        if lines and not self.unread and (self.names or not any(map(is_elision, lines))):
            self.observe("Host", at=0, imex_channels=self.names)


ROWS = Rows(
    _Channels,
    Row(_LONG, _Channels.long),
    Row(r"(?:(?:/dev/nvidia-caps-imex-channels/)?channel\d{1,5}(?:\s+|$)){1,400}$", _Channels.short),
    Row(r"total \d+\s*$|/dev/nvidia-caps-imex-channels/?:\s*$|d[rwx-]{9}\S?\s.{0,80}\s\.{1,2}\s*$"),
    Row(r"ls: cannot access '?/dev/nvidia-caps-imex-channels/?\*?'?: No such file or directory"),
    Row(is_elision),
    most=_LIMIT,
)
