"""Stamps: the date and time that a program, a launcher or a collector of logs puts before a line.

Forms: ISO 8601 and its relatives (``2026-05-03 03:10:12,345+02:00``, ``2026/05/03``), ``05/03/2026 03:10:12``, glog's
``E0503 03:10:12`` (glog's logging.cc) and PyTorch's ``E503 03:10:12`` (c10/util/Logging.cpp), vLLM's ``INFO 05-03
03:10:12``, syslog's ``May  3 03:10:12`` (RFC 3164), ctime's ``Sun May  3 03:10:12 2026`` (dmesg -T), and a clock alone.
A date inside of a message is not a stamp.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex

DAY = 86400
_REACH = 200
"""Bytes of a line in which a stamp ends."""
MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
LEAP = 1972
"""The year in which a date without a year is counted at first: it has a 29th of February."""
_SIGN = lazy_regex(rb"(?<![\d:])\d\d:\d\d:\d\d(?!:?\d)")
_DATE = lazy_regex(
    rb"(?:(?P<year>\d{4})[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[T _]"
    rb"|(?P<us_month>\d\d)/(?P<us_day>\d\d)/(?P<us_year>\d{4})[ T]"
    rb"|(?<![^\s:\]\[])[IWEF](?P<glog_year>\d{4})?(?P<glog_month>\d{1,2})(?P<glog_day>\d\d) "
    rb"|(?<![^\s\[])(?P<short_month>\d\d)[-/](?P<short_day>\d\d) "
    rb"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(?P<name>[A-Z][a-z]{2}) {1,2}(?P<name_day>\d{1,2}) "
    rb"(?:(?P<name_year>\d{4}) )?"
    rb")\Z"
)
_AFTER = lazy_regex(rb"(?:[.,]\d{1,9})?(?: ?(?P<zone>Z\b|UTC\b|[+-]\d\d:?\d\d\b)| (?P<year>(?:19|20)\d\d)\b)?")
_BRACKETS = lazy_regex(rb"\([^()]{0,100}\)|\[[^\[\]]{0,100}\]|<[^<>]{0,100}>")
_TAG = lazy_regex(
    rb"[\[({\"'|<>*,:;=-]+|[A-Z]{4,8}:?|[a-z]{4,8}\.[a-z]{3,7}|(?:rank|node|host|worker|pod):?"
    rb"|(?=[^\d._:@/-]{0,80}[\d._:@/-])[\w.@/:+-]{1,80}[\[\"']?"
    rb"|[{\[]?[\"']?@?(?:time|ts|timestamp|asctime|t)[\"']?[:=][\"']?"
)
"""A word that may come before a stamp: the name of a host, a level, the name of a field; no prose."""


class Stamp(NamedTuple):
    """A stamp as it is printed: ``wall`` is its clock in seconds since the epoch, as if its zone were UTC.

    ``zone``: the offset of its zone in seconds, None where none is printed. ``lacks`` is ``year`` or ``date`` where
    that is missing (`completed` adds it), else empty.
    """

    wall: float
    zone: int | None = None
    lacks: str = ""


def stamps(buffer: bytes, at: int = 0) -> Iterator[tuple[int, Stamp]]:
    """(offset of the line, stamp) of each line of the buffer that begins with a stamp, from offset ``at`` on."""
    known: dict[bytes, Stamp | None] = {}
    last = -1
    for found in _SIGN.finditer(buffer, at):
        start = buffer.rfind(b"\n", 0, found.start()) + 1
        if start == last or found.end() - start > _REACH:
            continue
        last = start
        before = buffer[start : found.end()]
        if before not in known:
            if len(known) > _REACH:
                known.clear()
            known[before] = _stamp(before)
        stamp = known[before]
        if stamp is not None:
            after = _AFTER.match(buffer, found.end())
            yield start, stamp if after is None or after.lastgroup is None else _with(stamp, after)


def stamp_of(line: bytes) -> Stamp | None:
    """The stamp of one line, None if it has none."""
    return next((stamp for _, stamp in stamps(line)), None)


def _stamp(before: bytes) -> Stamp | None:
    """The stamp that ends with the clock at the end of these bytes, if only tags come before it."""
    clock, dated = before[-8:], before[:-8]
    found = _DATE.search(dated)
    tags = dated if found is None else dated[: found.start()]
    if not all(map(_TAG.fullmatch, _BRACKETS.sub(b" ", tags).split())):
        return None
    seconds = int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:])
    if seconds > DAY:
        return None
    if found is None:
        return Stamp(seconds, lacks="date")
    parts = {name.rsplit("_", 1)[-1]: value for name, value in found.groupdict().items() if value is not None}
    if "name" in parts and parts["name"] not in MONTHS:
        return None
    month = MONTHS.index(parts["name"]) + 1 if "name" in parts else int(parts["month"])
    day = seconds_of(int(parts.get("year", LEAP)), month, int(parts["day"]))
    return None if day is None else Stamp(day + seconds, lacks="" if "year" in parts else "year")


def _with(stamp: Stamp, after: re.Match[bytes]) -> Stamp:
    """The stamp with the zone or the year that comes after its clock."""
    if after["year"]:
        return completed_year(stamp, int(after["year"])) if stamp.lacks == "year" else stamp
    return stamp._replace(zone=zone_of(after["zone"].decode()))


def zone_of(text: str) -> int:
    """Seconds by which the clocks of a zone are ahead of UTC: ``Z``, ``UTC``, ``+02:00``, ``-0700``."""
    if text[0] not in "+-":
        return 0
    digits = text[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if text[0] == "-" else 1)


def seconds_of(year: int, month: int, day: int) -> float | None:
    """Seconds since the epoch of the first second of a day in UTC; None for a date that does not exist."""
    try:
        if not 1 <= day <= calendar.monthrange(year, month)[1]:
            return None
        return float(calendar.timegm((year, month, day, 0, 0, 0)))
    except (ValueError, OverflowError):
        return None


def completed_year(stamp: Stamp, year: int) -> Stamp:
    """A stamp without a year, in that year; the 29th of February is the 1st of March where the year has none."""
    month, day = (1, stamp.wall - _of_leap(1, 1)) if stamp.wall < _of_leap(3, 1) else (3, stamp.wall - _of_leap(3, 1))
    return stamp._replace(wall=(seconds_of(year, month, 1) or 0.0) + day, lacks="")


def _of_leap(month: int, day: int) -> float:
    return seconds_of(LEAP, month, day) or 0.0


def completed(stamp: Stamp, near: float) -> Stamp:
    """The stamp with the year, or the date, that brings it nearest to ``near`` (seconds since the epoch)."""
    if stamp.lacks == "year":
        year = 1970 + int(near // (365.2425 * DAY))
        tried = (completed_year(stamp, year + more) for more in (-1, 0, 1))
        return min(tried, key=lambda one: abs(one.wall - near))
    if stamp.lacks == "date":
        days = round((near - stamp.wall) / DAY)
        return stamp._replace(wall=stamp.wall + days * DAY, lacks="")
    return stamp
