"""Moments as people write them on a command line: by the rules of ``journalctl --since``, and as logs print them.

Of systemd.time(7): ``2026-05-03 03:10:00``, also without seconds, with ``T``, a fraction, a day of the week before it
(``Sun 2026-05-03``), a year of two digits, or a zone after it (``Z``, ``+02:00``, ``UTC``, ``Asia/Tokyo``); a date
alone is its first second, a clock alone is of the day that the input suggests; ``now``, ``today``, ``yesterday``,
``tomorrow``, which may be followed by a clock here; ``-10min``, ``+1h 30m``, ``2 hours ago``, ``5min left``;
``@1777777812``.

Of logs, as a stamp is copied from a line: ``May  3 03:10`` (syslog), ``Sun May  3 03:10:12 2026`` (dmesg -T, date),
``3 May 2026``, ``03/May/2026:03:10:12 +0200`` (web servers), ``2026/05/03``, ``05/03/2026``, ``05-03 03:10:12``,
``E0503 03:10:12`` (glog), ``3:10 PM``. A date without a year is in the year that the input suggests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import DAY, LEAP, MONTHS, seconds_of, zone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_MONTH = r"(?P<{0}>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[a-z]{{0,6}}\.?"
_CLOCK = r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?: ?(?P<half>(?i:[ap]m)))?"
_DATE = (
    r"(?P<year_iso>\d{4}|\d\d(?=-\d\d?-))[-/.](?P<month_iso>\d\d?)[-/.](?P<day_iso>\d\d?)"
    r"|(?P<month_us>\d\d?)/(?P<day_us>\d\d?)/(?P<year_us>\d{4})"
    rf"|(?P<day_web>\d\d?)[/-]{_MONTH.format('month_web')}[/-](?P<year_web>\d{{4}})"
    rf"|(?P<day_last>\d\d?)\.? {_MONTH.format('month_last')}(?:,? (?P<year_last>\d{{4}}))?"
    rf"|{_MONTH.format('month_first')} (?P<day_first>\d\d?)(?:st|nd|rd|th)?(?:,? (?P<year_first>\d{{4}}))?"
    r"|[IWEF]?(?P<month_glog>\d\d)(?P<day_glog>\d\d)(?= )"
    r"|(?P<month_short>\d\d)[-/](?P<day_short>\d\d)"
)
_WORDS = "yesterday|today|tomorrow"
_MOMENT = lazy_regex(
    r"(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?i:day)?,? )?"
    rf"(?:(?:{_DATE}|(?P<word>{_WORDS}))(?:,? |[T_:]|$))?(?:at )?(?:{_CLOCK})?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)| (?P<place>[A-Z][A-Za-z_]{1,30}(?:/[A-Za-z_+-]{1,30}){1,2}))?"
    r"(?: (?P<year_end>\d{4}))?"
)
_UNITS = {
    "us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3,
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "d": DAY, "day": DAY, "w": 7 * DAY, "week": 7 * DAY, "M": 30.44 * DAY, "month": 30.44 * DAY,
    "y": 365.25 * DAY, "year": 365.25 * DAY,
}  # fmt: skip
"""Seconds of each unit, by systemd.time(7): ``M`` is a month, ``m`` a minute."""
_SPAN = lazy_regex(r"(\d{1,9}(?:\.\d{1,6})?) ?([A-Za-z]+?)s?(?: |,|(?=\d)|$)")
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_FIRST, _LAST = -62135596800.0, 253402300799.0
FORMS = "2026-05-03 03:10, May 3 03:10, 03:10, yesterday, -10min, @1777777812"
"""Examples for a message."""


class Moment(msgspec.Struct, frozen=True):
    """A moment that a person named.

    ``wall``: seconds since the epoch as if its zone were UTC; with ``zone`` (seconds ahead of UTC) it is the same
    moment everywhere, without one it is read by the clock of the input. ``clock`` is True if no day was named: then
    ``wall`` is seconds of a day. ``yearless``: no year was named, and ``wall`` counts as in the year `LEAP`.
    """

    wall: float
    zone: int | None = None
    clock: bool = False
    yearless: bool = False


def moment(text: str, now: float, local: int) -> Moment:
    """The moment that a text names; ``now`` is in seconds since the epoch, ``local`` the offset of this machine's zone.

    Raises ValueError with a sentence about a text that names none.
    """
    text = " ".join(text.strip().strip("[]").split())
    if text == "now":
        return Moment(now, 0)
    if re.fullmatch(r"@\d{1,11}(?:\.\d{1,9})?", text):
        return Moment(float(text[1:]), 0)
    ago = re.fullmatch(r"([+-])(.+)|(.+) (ago|left)", text)
    if ago is None:
        return _written(text, (now + local) // DAY * DAY)
    seconds = min(span(ago[2] or ago[3]), now)
    return Moment(now + seconds if ago[1] == "+" or ago[4] == "left" else now - seconds, 0)


def _written(text: str, today: float) -> Moment:
    found = _MOMENT.fullmatch(text)
    parts = {} if found is None else _parts(found.groupdict())
    abbreviated = re.fullmatch(r".*\d ([A-Z]{3,5})(?: \d{4})?", text)
    if found is None and abbreviated and abbreviated[1] not in {"UTC", "GMT"}:
        msg = f"{text!r}: {abbreviated[1]} is not the zone of one place; write it as an offset such as +02:00"
        raise ValueError(msg)
    if not {"hour", "day", "word"} & parts.keys():
        msg = f"{text!r} is not a time (examples: {FORMS})"
        raise ValueError(msg)
    clock, yearless = not {"day", "word"} & parts.keys(), "day" in parts and "year" not in parts
    start: float | None = 0.0
    if "word" in parts:
        start = today + _DAYS[parts["word"]] * DAY
    elif "day" in parts:
        name = parts["month"][:3].capitalize().encode()
        month = MONTHS.index(name) + 1 if name in MONTHS else int(parts["month"])
        start = seconds_of(_whole_year(parts.get("year", str(LEAP))), month, int(parts["day"]))
    seconds = _seconds(parts)
    if start is None or seconds is None:
        msg = f"{text!r} is a time that does not exist"
        raise ValueError(msg)
    zone = _zone(parts, start + seconds, text)
    return Moment(start + seconds, zone, clock, yearless)


def _parts(found: Mapping[str, str | None]) -> dict[str, str]:
    """The parts that were named, without the form that named them: ``day_web`` is ``day``."""
    return {name.partition("_")[0]: value for name, value in found.items() if value is not None}


def _whole_year(year: str) -> int:
    """A year of four digits; one of two is from 1969 to 2068, as in systemd.time(7)."""
    number = int(year)
    return number if len(year) > 2 else number + (2000 if number < 69 else 1900)  # noqa: PLR2004


def _seconds(parts: Mapping[str, str]) -> float | None:
    """Seconds of the day; None for a clock that does not exist."""
    hour, minute, second = (int(parts.get(name, "0")) for name in ("hour", "minute", "second"))
    if "half" in parts:
        if not 1 <= hour <= 12:  # noqa: PLR2004
            return None
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    total = hour * 3600 + minute * 60 + second
    return None if total > DAY or minute > 59 or second > 60 else float(total)  # noqa: PLR2004


def _zone(parts: Mapping[str, str], wall: float, text: str) -> int | None:
    """Seconds by which the zone that was named is ahead of UTC then; None where none was."""
    if "place" not in parts:
        return zone_of(parts["zone"].replace("GMT", "UTC")) if "zone" in parts else None
    from datetime import datetime, timezone
    from zoneinfo import ZoneInfo

    try:
        at = datetime.fromtimestamp(wall, timezone.utc).replace(tzinfo=ZoneInfo(parts["place"]))
        offset = at.utcoffset()
    except (KeyError, ValueError, OSError, OverflowError):
        offset = None
    if offset is None:
        msg = f"{text!r}: this machine does not know the zone {parts['place']}"
        raise ValueError(msg)
    return int(offset.total_seconds())


def span(text: str) -> float:
    """Seconds of a duration: ``10m``, ``10 min``, ``1h 30m``, ``90`` (seconds). Raises ValueError with a sentence."""
    text = text.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", text):
        return float(text)
    seconds, at = 0.0, 0
    while at < len(text):
        found = _SPAN.match(text, at)
        unit = None if found is None else _UNITS.get(found[2], _UNITS.get(found[2].lower()))
        if found is None or unit is None:
            break
        seconds += float(found[1]) * unit
        at = found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip())
    if not text or at < len(text):
        msg = f"{text!r} is not a duration (examples: 10m, 90s, 1h 30m)"
        raise ValueError(msg)
    return seconds


def written(wall: float, zone: int | None = None) -> str:
    """A moment as text: ``2026-05-03 03:10:00``, with its zone where one is known (``+02:00``).

    A moment before the year 1 or after 9999 is written as the first or last one of them.
    """
    from datetime import datetime, timezone

    found = datetime.fromtimestamp(min(max(wall, _FIRST), _LAST), timezone.utc)
    text = found.replace(tzinfo=None).isoformat(" ", "seconds")
    if zone is None:
        return text
    minutes = abs(zone) // 60
    return f"{text}{'-' if zone < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
