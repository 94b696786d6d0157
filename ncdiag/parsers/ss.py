"""``ss -ltn`` and ``netstat -ltn``: the TCP ports on which programs of a host listen.

Sources of the formats: iproute2 misc/ss.c (columns State, Recv-Q, Send-Q, Local Address:Port, Peer Address:Port),
net-tools netstat.c (Proto first, State behind the addresses).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "ss"
COMMANDS: tuple[str, ...] = ("ss", "netstat")
ANCHOR = (
    r"(?:Netid[ \t]+)?State[ \t]+Recv-Q[ \t]+Send-Q[ \t]+Local Address:Port"
    r"|Active Internet connections|Proto[ \t]+Recv-Q[ \t]+Send-Q[ \t]+Local Address"
)

_ADDRESS = r"(?:\*|\[?[0-9a-fA-F:.*]{1,60}\]?(?:%[\w.-]{1,20}\]?)?)"
_PORT = rf"{_ADDRESS}:(?P<port>\d{{1,5}})"
_PROGRAM = lazy_regex(r'users:\(\("(?P<of_ss>[^"\s]{1,40})|\s\d{1,10}/(?P<of_netstat>[^\s:/]{1,40})')
"""``ss -p``: ``users:(("sshd",pid=7,fd=3))``; ``netstat -p``: ``7/sshd``."""
_LIMIT = 20_000


class _Sockets(Reading):
    """``listening_ports`` of the host, and the programs that listen there where they are shown."""

    def __init__(self, section: Section) -> None:
        """No socket was read yet."""
        super().__init__(section)
        self.first: int | None = None
        self.ports: set[int] = set()
        self.programs: dict[str, str] = {}

    def datagrams(self, _: re.Match[str]) -> None:
        """A socket of UDP, which shows that the output has sockets."""
        self.first = self.index if self.first is None else self.first

    def listens(self, found: re.Match[str]) -> None:
        """A socket that waits for connections."""
        self.datagrams(found)
        self.ports.add(int(found["port"]))
        program = _PROGRAM.search(found.string, found.end())
        if program is not None:
            self.programs[str(int(found["port"]))] = program["of_ss"] or program["of_netstat"]

    def end(self) -> None:
        """All ports as one observation."""
        if self.first is not None:
            self.observe("Host", at=self.first, listening_ports=sorted(self.ports), port_programs=self.programs or None)


ROWS = Rows(
    _Sockets,
    Row(rf"(?:tcp\s+)?LISTEN\s+\d{{1,9}}\s+\d{{1,9}}\s+{_PORT}\s", _Sockets.listens),
    Row(rf"udp\s+LISTEN\s+\d{{1,9}}\s+\d{{1,9}}\s+{_PORT}\s", _Sockets.datagrams),
    Row(rf"tcp6?\s+\d{{1,9}}\s+\d{{1,9}}\s+{_PORT}\s+\S{{1,80}}\s+LISTEN\b", _Sockets.listens),
    Row(
        r"(?:(?:tcp|udp)6?\s+)?(?:ESTAB|UNCONN|TIME-WAIT|CLOSE-WAIT|SYN-SENT|SYN-RECV|FIN-WAIT-\d|LAST-ACK|CLOSING)\s"
        r"|(?:tcp|udp)6?\s+\d{1,9}\s+\d{1,9}\s"
    ),
    Row(ANCHOR),
    most=_LIMIT,
)
