"""``nc -zv HOST PORT``: whether a TCP port of another host answers.

Sources of the formats: OpenBSD netcat netcat.c (``Connection to 10.0.0.1 29500 port [tcp/*] succeeded!``, ``nc: connect
to 10.0.0.1 port 29500 (tcp) failed: ...``), nmap's ncat (``Ncat: Connected to 10.0.0.1:29500.``, ``Ncat: Connection
refused.``), netcat-traditional (``10.0.0.1: inverse host lookup failed``, ``(UNKNOWN) [10.0.0.1] 29500 (?) open``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "nc"
EVENTS = {"port-tried": {"address": "str", "port": "int", "answer": "str"}}
COMMANDS: tuple[str, ...] = ("nc", "ncat", "netcat")
_PLACE = r"(?P<place>[\w.:%-]{1,255})(?: \((?P<ip>[0-9a-f.:]{2,60})\))?"
_ANY = r"[\w.:%-]{1,255}(?: \([0-9a-f.:]{2,60}\))?"
ANCHOR = (
    rf"Connection to {_ANY} (?:port )?\d{{1,5}} (?:port )?\[tcp/[\w*-]{{1,30}}\] succeeded!"
    rf"|nc: connect to {_ANY} port \d{{1,5}} \(tcp\) (?:failed|timed out)"
)

_OPEN = re.compile(rf"Connection to {_PLACE} (?:port )?(?P<port>\d{{1,5}}) .{{0,40}}succeeded!")
_FAILED = re.compile(
    rf"nc: connect to {_PLACE} port (?P<port>\d{{1,5}}) \(tcp\) (?:failed: (?P<why>.{{1,80}})|timed out)"
)
_NCAT = re.compile(
    r"Ncat: (?:(?P<yes>Connected to )"
    r"|(?P<why>Connection refused|No route to host|Network is unreachable|TIMEOUT|Connection timed out))"
)
_OLD = re.compile(r"\(UNKNOWN\) \[[0-9.]{7,15}\] (?P<port>\d{1,5}) \(.{1,30}\)(?: (?P<yes>open)| : (?P<why>.{1,80}))")
_NOISE = re.compile(r"Ncat: (?:Version|\d+ bytes)|.{0,80}inverse host lookup failed|.{0,80}forward host lookup failed")
_ASKED = re.compile(r"\s(?P<place>(?!-)[\w.:%-]{1,255})\s+(?P<port>\d{1,5})\s*$")
_ANSWERS = "answers"
_MOST = 20
"""Lines, for a name with several addresses."""
_WORDS = {"TIMEOUT": "Connection timed out"}


def continues(lines: Sequence[str], line: str) -> bool:
    """The tries of further addresses of a name, and what ncat says around its answer."""
    return len(lines) < _MOST and any(p.match(line) for p in (_OPEN, _FAILED, _NCAT, _OLD, _NOISE))


def parse(section: Section) -> Parsed:
    """An event a try; ``answer`` is ``answers`` or what the kernel said."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        told = _told(line, section.command or "")
        if told:
            address, port, answer = told
            fields = {"address": address, "port": port, "answer": answer}
            found.append(
                observe(
                    section, index, "Event", event="port-tried", origin="app", kind="fact", text=line[:400], count=1,
                    order=section.number(index), fields=fields,
                )
            )  # fmt: skip
        elif line.strip() and not _NOISE.match(line):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _told(line: str, command: str) -> tuple[str, int, str] | None:
    """Address, port and answer of a line; those of the command where the line names none."""
    full = _OPEN.match(line) or _FAILED.match(line)
    if full:
        why = full.groupdict().get("why")
        answer = _ANSWERS if _OPEN.match(line) else (why or "Connection timed out").strip()
        return full["ip"] or full["place"], int(full["port"]), answer
    short, asked = _NCAT.match(line) or _OLD.match(line), _ASKED.search(command.split("|", 1)[0])
    if short is None or asked is None:
        return None
    why = (short["why"] or "").strip()
    return asked["place"], int(asked["port"]), _ANSWERS if short["yes"] else _WORDS.get(why, why)
