"""``nc -zv HOST PORT``: whether a TCP port of another host answers.

Sources of the formats: OpenBSD netcat netcat.c (``Connection to 10.0.0.1 29500 port [tcp/*] succeeded!``, ``nc: connect
to 10.0.0.1 port 29500 (tcp) failed: ...``), nmap's ncat (``Ncat: Connected to 10.0.0.1:29500.``, ``Ncat: Connection
refused.``), netcat-traditional (``10.0.0.1: inverse host lookup failed``, ``(UNKNOWN) [10.0.0.1] 29500 (?) open``).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "nc"
EVENTS = {"port-tried": {"address": "str", "port": "int", "answer": "str"}}
COMMANDS: tuple[str, ...] = ("nc", "ncat", "netcat")
_PLACE = r"(?P<place>[\w.:%-]{1,255})(?: \((?P<ip>[0-9a-f.:]{2,60})\))?"
_ANY = r"[\w.:%-]{1,255}(?: \([0-9a-f.:]{2,60}\))?"
ANCHOR = (
    rf"Connection to {_ANY} (?:port )?\d{{1,5}} (?:port )?\[tcp/[\w*-]{{1,30}}\] succeeded!"
    rf"|nc: connect to {_ANY} port \d{{1,5}} \(tcp\) (?:failed|timed out)"
)

_FAILED = rf"nc: connect to {_PLACE} port (?P<port>\d{{1,5}}) \(tcp\) (?:failed: (?P<why>.{{1,80}})|timed out)"
_NCAT = (
    r"Ncat: (?:(?P<yes>Connected to )"
    r"|(?P<why>Connection refused|No route to host|Network is unreachable|TIMEOUT|Connection timed out))"
)
_OLD = r"\(UNKNOWN\) \[[0-9.]{7,15}\] (?P<port>\d{1,5}) \(.{1,30}\)(?: (?P<yes>open)| : (?P<why>.{1,80}))"
_NOISE = r"Ncat: (?:Version|\d+ bytes)|.{0,80}inverse host lookup failed|.{0,80}forward host lookup failed"
_ASKED = lazy_regex(r"\s(?P<place>(?!-)[\w.:%-]{1,255})\s+(?P<port>\d{1,5})\s*$")
_ANSWERS = "answers"
_MOST = 20
"""Lines, for a name with several addresses."""
_WORDS = {"TIMEOUT": "Connection timed out"}


class _Tries(Reading):
    """An event a try; ``answer`` is ``answers`` or what the kernel said."""

    def open(self, full: re.Match[str]) -> None:
        """The port answers."""
        self._tried(full["ip"] or full["place"], full["port"], _ANSWERS)

    def failed(self, full: re.Match[str]) -> None:
        """The port does not."""
        self._tried(full["ip"] or full["place"], full["port"], (full["why"] or "Connection timed out").strip())

    def short(self, found: re.Match[str]) -> bool:
        """An answer about the address in the command; False where there is none."""
        asked = _ASKED.search((self.section.command or "").split("|", 1)[0])
        why = (found["why"] or "").strip()
        if asked:
            self._tried(asked["place"], asked["port"], _ANSWERS if found["yes"] else _WORDS.get(why, why))
        return asked is not None

    def _tried(self, address: str, port: str, answer: str) -> None:
        self.observe(
            "Event", event="port-tried", origin="app", kind="fact", text=self.line[:400], count=1,
            order=self.section.number(self.index), fields={"address": address, "port": int(port), "answer": answer},
        )  # fmt: skip


ROWS = Rows(
    _Tries,
    Row(rf"Connection to {_PLACE} (?:port )?(?P<port>\d{{1,5}}) .{{0,40}}succeeded!", _Tries.open),
    Row(_FAILED, _Tries.failed),
    Row(_NCAT, _Tries.short),
    Row(_OLD, _Tries.short),
    Row(_NOISE),
    most=_MOST,
)
