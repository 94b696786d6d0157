"""Moments as people write them on a command line: by the rules of ``journalctl --since`` (systemd.time(7)).

``2026-05-03 03:10:00``, also without seconds, with ``T``, a fraction or a zone (``Z``, ``+02:00``); a date alone is its
first second, a clock alone is of the day that the input suggests; ``now``, ``today``, ``yesterday``, ``tomorrow``;
``-10min``, ``+1h 30m``, ``2 hours ago``; ``@1777777812``.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import DAY, seconds_of, zone_of

_MOMENT = lazy_regex(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)(?:[T ]+|$))?"
    r"(?:(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?)? ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)
_UNITS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "d": DAY, "day": DAY, "w": 7 * DAY, "week": 7 * DAY,
}  # fmt: skip
_SPAN = lazy_regex(r"(\d{1,9}(?:\.\d{1,6})?) ?([a-z]+?)s?(?: |,|(?=\d)|$)")
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_FIRST, _LAST = -62135596800.0, 253402300799.0
FORMS = "2026-05-03 03:10, 03:10, yesterday, -10min, @1777777812"
"""Examples for a message."""


class Moment(msgspec.Struct, frozen=True):
    """A moment that a person named.

    ``wall``: seconds since the epoch as if its zone were UTC; with ``zone`` (seconds ahead of UTC) it is the same
    moment everywhere, without one it is read by the clock of the input. ``clock`` is True if no day was named: then
    ``wall`` is seconds of a day.
    """

    wall: float
    zone: int | None = None
    clock: bool = False


def moment(text: str, now: float, local: int) -> Moment:
    """The moment that a text names; ``now`` is in seconds since the epoch, ``local`` the offset of this machine's zone.

    Raises ValueError with a sentence about a text that names none.
    """
    text = text.strip()
    if text in _DAYS:
        return Moment(((now + local) // DAY + _DAYS[text]) * DAY)
    if text == "now":
        return Moment(now, 0)
    if re.fullmatch(r"@\d{1,11}(?:\.\d{1,9})?", text):
        return Moment(float(text[1:]), 0)
    ago = re.fullmatch(r"([+-])(.+)|(.+) ago", text)
    if ago is None:
        return _written(text)
    seconds = min(span(ago[2] or ago[3]), now)
    return Moment(now + seconds if ago[1] == "+" else now - seconds, 0)


def _written(text: str) -> Moment:
    found = _MOMENT.fullmatch(text)
    if found is None or not (found["year"] or found["hour"]):
        msg = f"{text!r} is not a time (examples: {FORMS})"
        raise ValueError(msg)
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    year, month, day = (int(found[name] or 1) for name in ("year", "month", "day"))
    start = seconds_of(year, month, day) if found["year"] else 0.0
    if start is None or hour * 3600 + minute * 60 + second > DAY or minute > 59 or second > 60:  # noqa: PLR2004
        msg = f"{text!r} is a time that does not exist"
        raise ValueError(msg)
    zone = zone_of(found["zone"]) if found["zone"] else None
    return Moment(start + hour * 3600 + minute * 60 + second, zone, not found["year"])


def span(text: str) -> float:
    """Seconds of a duration: ``10m``, ``10 min``, ``1h 30m``, ``90`` (seconds). Raises ValueError with a sentence."""
    text = text.strip().lower()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", text):
        return float(text)
    seconds, at = 0.0, 0
    while at < len(text):
        found = _SPAN.match(text, at)
        if found is None or found[2] not in _UNITS:
            break
        seconds += float(found[1]) * _UNITS[found[2]]
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
