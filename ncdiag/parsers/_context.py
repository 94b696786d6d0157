"""What comes before a program's own text on a line (launcher tags, log times, syslog heads): rank, process, time.

Formats: PyTorch ``[rank3]:`` and ``[PG ID 0 PG GUID 0(default_pg) Rank 3]``; Open MPI ``[1,3]<stderr>:``; Ray and vLLM
``(VllmWorker rank=3 pid=15164)``; glog ``[E1002 18:16:40.662 file.cpp:632]``; Python logging; dmesg plain, ``-T``,
``--decode`` and iso; syslog and journal.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats.stamps import stamp_of

LOOKED_AT = 4096
"""Characters of a line in which prefixes are looked for."""
_ROUNDS = 12
_STAMPED = 200
"""Characters of a line in which its stamp ends."""

_PREFIX = lazy_regex(
    r"""
      \s+
    | \[(?:[Rr]ank:?\ ?)(?P<rank>\d{1,7})\]:?
    | \[(?:PG\ [^\[\]]{1,100}\ )Rank\ (?P<group_rank>\d{1,7})\]
    | \[(?:(?:\d{1,9}|[\w.-]{1,64}@\d{1,9}),)?(?P<mpi_rank>\d{1,7})\]<std(?:out|err|diag)>:?
    | \((?P<worker>[^()]{0,100})\bpid=(?P<pid>\d{1,9})[^()]{0,100}\)
    | \[default\d{1,4}\]:?
    | \[?(?P<date>\d{4}-\d\d-\d\d)[T\ ](?P<clock>\d\d:\d\d:\d\d)(?P<fraction>[.,]\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?
      (?:\ [A-Z]{2,3}\d{1,6}){0,4}\]?:?(?:\ (?P<iso_host>[\w.-]{1,100})\ kernel:)?
    | \d{4}-\d\d-\d\d\ \d\d:\d\d(?=\s)
    | \[(?P<ctime>[A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [\ \d]\d\ \d\d:\d\d:\d\d\ \d{4})(?:\ <[\s\d.]{1,24}>)?\]
    | (?:kern|user|mail|daemon|auth|syslog|lpr|news|authpriv|local\d)\s{0,6}:
      (?:emerg|alert|crit|err|warn|notice|info|debug)\s{0,4}:
    | kern:\s{1,8}(?:emergency|alert|critical|error|warning|notice|info|debug):\ (?=\[\d{4}-)
    | <\d{1,3}>
    | \[\s{0,8}\+?\d{1,9}\.\d{3,9}(?:\ <[\s\d.]{1,24}>)?\]
    | \[[A-Z][a-z]{2}\s{0,2}\d{1,2}\ \d\d:\d\d\]
    | [A-Z][a-z]{2}\ \d\d\ \d\d:\d\d:\d\d\ \d{6}\ (?=\[[\dA-Fa-f]{1,16}\]\ 0x[\dA-Fa-f]{2}\ ->)  # OpenSM (osm_log.c)
    | [A-Z][a-z]{2}\s{1,2}\d{1,2}\ \d\d:\d\d:\d\d(?:\.\d{1,9})?\ (?P<log_host>[\w.-]{1,100})\ (?:kernel:)?
    | \[?(?P<glog>[IWEF])(?:\d{3,4}\ \d\d:\d\d:\d\d[.\d]{0,12})?\ (?:\d{1,9}\ )?[\w./-]{1,128}:\d{1,6}\]
    | (?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\ \d\d-\d\d\ \d\d:\d\d:\d\d\ \[[\w./-]{1,128}:\d{1,6}\]
    | \[c10d\]
    | what\(\):
    | \[\d{1,9}\]\ (?=\[)
    """,
    re.VERBOSE,
)
_KEYS = lazy_regex(r"(?:\^[A-Z\\])+")
"""``^C``: a key that the terminal echoed in front of what the program printed next."""
_RANK_ANYWHERE = lazy_regex(r"\[(?:PG [^\[\]]{1,100} )?[rR]ank ?(\d{1,7})\]")
_GROUP = lazy_regex(r"\[PG (?:ID \S{1,20} PG GUID )?([^\s\]]{1,80}(?: \([^)\]]{1,60}\))?) Rank \d")
_WORKER_RANK = lazy_regex(r"\brank=(\d{1,7})\b")
_NODE_LABEL = lazy_regex(r"(?:head|worker\d*)\b")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Context(msgspec.Struct):
    """What the prefixes of one line told. ``time`` is seconds since the epoch, UTC where no zone was printed.

    ``level`` is the first letter of the level that a logger printed (``E`` of glog, of ``ERROR``).
    ``group_rank`` is the rank's number in the process group that the line is about, where ``rank`` comes before it.
    """

    rank: int | None = None
    group_rank: int | None = None
    pid: int | None = None
    host: str | None = None
    time: float | None = None
    process_group: str | None = None
    level: str | None = None

    def inherit(self, outer: Context) -> None:
        """Take what the line itself does not have from what stood before it, or before a whole section."""
        self.rank = outer.rank if self.rank is None else self.rank
        self.pid = outer.pid if self.pid is None else self.pid
        self.time = outer.time if self.time is None else self.time
        self.level = outer.level if self.level is None else self.level


def split(line: str) -> tuple[Context, str]:
    """The prefixes of a line, read, and the text behind them."""
    line = line[:LOOKED_AT]
    context = Context()
    keys = _KEYS.match(line)
    start = keys.end() if keys else 0
    for _ in range(_ROUNDS):
        found = _PREFIX.match(line, start)
        if found is None:
            break
        _take(context, found)
        start = found.end()
    if context.rank is None:
        anywhere = _RANK_ANYWHERE.search(line)
        context.rank = int(anywhere[1]) if anywhere else None
    group = _GROUP.search(line)
    context.process_group = group[1] if group else None
    return context, line[start:].rstrip()


def wall_of(section: Section, index: int) -> float | None:
    """The clock of the stamp of a line, as `Stamp.wall` has it; None for a line without one."""
    line = f"{section.head(index)}{section.lines[index]}"[:_STAMPED]
    stamp = stamp_of(line.encode("utf-8", "replace"))
    return None if stamp is None else stamp.wall


def _take(context: Context, found: re.Match[str]) -> None:
    rank = found["rank"] or found["group_rank"] or found["mpi_rank"]
    if rank and context.rank is None:
        context.rank = int(rank)
    elif rank:
        context.group_rank = int(rank)
    if found["pid"]:
        context.pid = int(found["pid"])
        worker = _WORKER_RANK.search(found["worker"])
        # SkyPilot's ``(head, rank=0, pid=1)`` numbers hosts, not ranks
        if worker and context.rank is None and not _NODE_LABEL.match(found["worker"]):
            context.rank = int(worker[1])
    context.level = context.level or found["glog"] or (found["level"] or "")[:1] or None
    context.host = context.host or found["log_host"] or found["iso_host"]
    if found["date"] or found["ctime"]:
        context.time = _iso(found) if found["date"] else _ctime(found["ctime"])


def _iso(found: re.Match[str]) -> float | None:
    zone = (found["zone"] or "Z").replace("Z", "+00:00")
    zone = zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    fraction = (found["fraction"] or ".0").replace(",", ".")[:7].ljust(7, "0")
    try:
        return datetime.fromisoformat(f"{found['date']}T{found['clock']}{fraction}{zone}").timestamp()
    except (ValueError, OverflowError):
        return None


def _ctime(text: str) -> float | None:
    _, month, day, clock, year = text.split()
    try:
        hour, minute, second = (int(part) for part in clock.split(":"))
        number = _MONTHS.index(month) + 1
        return datetime(int(year), number, int(day), hour, minute, second, tzinfo=timezone.utc).timestamp()
    except (ValueError, OverflowError):
        return None
