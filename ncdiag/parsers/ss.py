"""``ss -ltn`` and ``netstat -ltn``: the TCP ports on which programs of a host listen.

Sources of the formats: iproute2 misc/ss.c (columns State, Recv-Q, Send-Q, Local Address:Port, Peer Address:Port),
net-tools netstat.c (Proto first, State behind the addresses).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "ss"
COMMANDS: tuple[str, ...] = ("ss", "netstat")
ANCHOR = (
    r"(?:Netid[ \t]+)?State[ \t]+Recv-Q[ \t]+Send-Q[ \t]+Local Address:Port"
    r"|Active Internet connections|Proto[ \t]+Recv-Q[ \t]+Send-Q[ \t]+Local Address"
)

_HEAD = re.compile(ANCHOR)
_ADDRESS = r"(?:\*|\[?[0-9a-fA-F:.*]{1,60}\]?(?:%[\w.-]{1,20}\]?)?)"
_SS = re.compile(rf"(?:(?P<proto>tcp|udp)\s+)?LISTEN\s+\d{{1,9}}\s+\d{{1,9}}\s+{_ADDRESS}:(?P<port>\d{{1,5}})\s")
_NETSTAT = re.compile(rf"tcp6?\s+\d{{1,9}}\s+\d{{1,9}}\s+{_ADDRESS}:(?P<port>\d{{1,5}})\s+\S{{1,80}}\s+LISTEN\b")
_OTHER = re.compile(
    r"(?:(?:tcp|udp)6?\s+)?(?:ESTAB|UNCONN|TIME-WAIT|CLOSE-WAIT|SYN-SENT|SYN-RECV|FIN-WAIT-\d|LAST-ACK|CLOSING)\s"
    r"|(?:tcp|udp)6?\s+\d{1,9}\s+\d{1,9}\s"
)
_LIMIT = 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows of sockets."""
    return len(lines) < _LIMIT and any(pattern.match(line) for pattern in (_SS, _NETSTAT, _OTHER, _HEAD))


def parse(section: Section) -> Parsed:
    """``listening_ports`` of the host."""
    ports: set[int] = set()
    first = None
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        by_ss, by_netstat = _SS.match(line), _NETSTAT.match(line)
        if by_ss and by_ss["proto"] != "udp":
            ports.add(int(by_ss["port"]))
        elif by_netstat:
            ports.add(int(by_netstat["port"]))
        elif line.strip() and not _HEAD.match(line) and not _OTHER.match(line):
            unread.append(index)
            continue
        first = index if first is None and (by_ss or by_netstat) else first
    if first is None:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, first, "Host", listening_ports=sorted(ports)),), unread=tuple(unread))
