"""``ls -l /dev/shm``: whose files fill the shared memory of a host, and which programs made them.

Source of the format: GNU coreutils src/ls.c. What is kept is the owner and the beginning of the name, which tells the
program: ``torch_`` (PyTorch's file_system strategy), ``nccl-``, ``psm_`` (Python), ``plasma`` (Ray).
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import ELISION, Reading, Row, Rows

KIND = "shm_files"
_SHM = "/dev/shm"  # noqa: S108  (it is the subject, no temporary file)
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} {_SHM}{end}" for tool in ("ls -l", "ls -la", "ls -al", "ls -lh", "ls -lah", "ls -lt", "ls -lS", "ll")
    for end in ("", "/")
)  # fmt: skip
ANCHOR = r"(?!)"  # rows of any folder are like these: only the command says which it is
_ROW = (
    r"[-dl][rwxsStT-]{9}[.+@]?\s+\d+\s+(?P<owner>[a-z_][\w.-]{0,31})\s.{8,80}\s(?:/dev/shm/)?"
    r"(?P<kind>[A-Za-z]{2,20}[_.-])?[\w.-]{0,80}\s*$"
)
_MOST = 5000


class _Files(Reading):
    """``shm_files`` of the host: each owner with each kind of file once."""

    def __init__(self, section: Section) -> None:
        """No file was read yet."""
        super().__init__(section)
        self.known: dict[str, int] = {}

    def row(self, found: re.Match[str]) -> None:
        """A file, with its owner."""
        self.known.setdefault(f"{found['owner']} {found['kind'] or ''}", self.index)

    def end(self) -> None:
        """All of them as one observation."""
        if self.known:
            self.observe("Host", at=min(self.known.values()), shm_files=list(self.known))


ROWS = Rows(_Files, Row(r"total \d+[KMGT]?\s*$"), Row(_ROW, _Files.row), ELISION, most=_MOST)
continues, parse = ROWS.continues, ROWS.parse
