"""``stat -c %d /dev/shm``: the device number of /dev/shm, by which two containers share it or do not.

Source: GNU coreutils src/stat.c (``%d``: device number in decimal).
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows, at_start

KIND = "shm_device"
COMMANDS: tuple[str, ...] = (
    "stat -c %d /dev/shm",
    "stat -c '%d' /dev/shm",
    'stat -c "%d" /dev/shm',
    "stat --format=%d /dev/shm",
)
ANCHOR = r"(?!)"  # a number alone: only its command says what it is

_SHM = "/dev/shm"  # noqa: S108  (it is the subject, no temporary file)


class _Number(Reading):
    """``device`` of the mount; one number is all there is."""

    def number(self, found: re.Match[str]) -> None:
        """The answer of the command."""
        self.observe("Mount", (_SHM,), device=int(found[0]))

    def end(self) -> None:
        """Nothing where no command says what the number is, or more is below it."""
        if self.section.command is None or self.unread or len(self.found) > 1:
            self.found_nothing()


ROWS = Rows(_Number, Row(r"\d{1,18}\s*$", _Number.number, belongs=at_start))
