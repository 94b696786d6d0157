"""A log of any size whose stamps grow: each second of it has the same number of lines."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

LINES = 1000
"""Lines of each second."""
_STAMP = b"2026-05-03 00:00:00"
_SECOND = b"".join(
    b"%s srv1:7:%d [%d] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] via P2P/CUMEM/read\n"
    % (_STAMP, line, line % 8, line % 32, line % 8, line % 8, (line + 1) % 8, (line + 1) % 8)
    if line % 100 == 0
    else b"%s srv1 trainer %d: step took %d ms, %s\n" % (_STAMP, line, line % 97, b"." * (line % 300))
    for line in range(LINES)
)  # fmt: skip


class Stamped(NamedTuple):
    """A log that begins at ``begin`` and has this number of ``seconds``."""

    seconds: int
    begin: datetime = datetime(2026, 5, 3, tzinfo=timezone.utc)

    def second(self, number: int) -> bytes:
        """The lines of one of its seconds, counted from 0."""
        stamp = f"{self.begin + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}"
        return _SECOND.replace(_STAMP, stamp.encode("ascii"))


def write(path: Path, size: float) -> Stamped:
    """Write a log of about ``size`` bytes."""
    log = Stamped(int(size / len(_SECOND)))
    with path.open("wb") as written:
        for number in range(log.seconds):
            written.write(log.second(number))
    return log
