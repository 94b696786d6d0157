"""``/etc/nvidia-imex/nodes_config.cfg``: the addresses of the nodes of an IMEX domain, one a line.

Source of the format: NVIDIA IMEX service guide (IMEX_NODE_CONFIG_FILE): addresses, and comments with ``#``; in a paste
they are on one line, too.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.facts.scalars import ip_address
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "imex_config"
_FILE = "/etc/nvidia-imex/nodes_config.cfg"
_READERS = ("cat", "more", "head", "grep -v '^#'", 'grep -v "^#"', "grep -v ^#", "grep .", "grep -v '#'")
COMMANDS: tuple[str, ...] = tuple(f"{reader} {_FILE}" for reader in _READERS)
ANCHOR = r"(?:#[ \t]*)?/etc/nvidia-imex/nodes_config\.cfg:?[ \t]*$"
_MOST = 2000


class _Nodes(Reading):
    """``imex_addresses`` of the host."""

    def __init__(self, section: Section) -> None:
        """No address was read yet."""
        super().__init__(section)
        self.addresses: list[str] = []
        self.first = 0

    def nodes(self, found: re.Match[str]) -> bool:
        """The addresses of a line."""
        words = found[0].split()
        if not all(map(ip_address, words)):
            return False
        self.first = self.first if self.addresses else self.index
        self.addresses += words
        return True

    def end(self) -> None:
        """All of them as one observation."""
        if self.addresses:
            self.observe("Host", at=self.first, imex_addresses=self.addresses)


ROWS = Rows(
    _Nodes,
    Row(r"(?:[0-9a-fA-F:.]{3,45}[ \t]{0,4}){1,600}$", _Nodes.nodes),
    Row(ANCHOR),
    Row(r"#.{0,200}$"),
    most=_MOST,
)
continues, parse = ROWS.continues, ROWS.parse
