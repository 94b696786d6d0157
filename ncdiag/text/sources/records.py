"""Recover the original lines of programs from the records of container runtimes, log collectors and Ray.

Docker's json-file driver wraps each line in a JSON object with ``log``, ``stream`` and ``time`` (moby
daemon/logger/jsonfilelog) and escapes ``<``, ``>`` and ``&``; fluentd, Loki and the clouds forward such objects in
their own formats; ``journalctl -o json`` has ``MESSAGE``, ``_HOSTNAME`` and a time in microseconds
(systemd.journal-fields(7)). Ray prints lines that differ only in their numbers once, followed by ``[repeated 7x across
cluster]`` (ray python/ray/_private/ray_logging).
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

_TEXTS = ("log", "message", "MESSAGE", "msg", "textPayload", "line", "content")
_TIMES = (
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "__REALTIME_TIMESTAMP",
    "_SOURCE_REALTIME_TIMESTAMP",
    "receiveTimestamp",
)
_HOSTS = ("_HOSTNAME", "hostname", "host", "pod", "podName", "pod_name")
_PROGRAMS, _PROCESSES = ("SYSLOG_IDENTIFIER", "_COMM", "container", "containerName", "container_name"), ("_PID", "pid")
_BEGIN = lazy_regex(rb'\n\{\s?"(?:[^\n]{0,4000}?")?(?:' + "|".join(_TEXTS).encode() + rb')"\s?:\s?"')
_RECORD = lazy_regex(rb"\n(\{[^\n]*)")
_PRINTED = tuple(f'"{name}":'.encode() for name in _TEXTS)
_FIELD = lazy_regex(
    rb'^[ \t]+"(?:' + "|".join(_TEXTS).encode() + rb')":[ ]?("(?:[^"\\\n]|\\[^\n])*"),?\r?$', re.MULTILINE
)
"""The text of a record that is printed with one field per line (``aws logs``, ``gcloud logging read``)."""
_TIMED = lazy_regex(rb'^[ \t]+"(?:' + "|".join(_TIMES).encode() + rb')":', re.MULTILINE)
_MANY = 3
"""Line ends of a text that a person wrote, or of a whole output."""
_WORD = lazy_regex(r"[\w.-]{1,64}")
_DIGITS = lazy_regex(r"\d{10,19}(?:\.\d{1,9})?")
_REPEATED = lazy_regex(rb" \[repeated (\d{1,9})x across cluster\][^\n]{0,400}")
_REPEATED_SIGN = b"x across cluster]"
_DIGIT = lazy_regex(rb"\d")
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_plans: dict[bytes, tuple[bytes | slice, ...]] = {}
"""For each shape of a record, how its line is composed: slices of the record, and constant words."""
_PLANS = 1 << 12
_RFC = lazy_regex(r"\d{4}-\d\d-\d\d[T ]\S{8,30}")
_GROUPS = (_TEXTS, _TIMES, _HOSTS, _PROGRAMS, _PROCESSES, ("stream", "kubernetes"))
_FIELDS = tuple(name for group in _GROUPS for name in group)
_Record = msgspec.defstruct(
    "_Record",
    [(f"field{number}", Any, None) for number in range(len(_FIELDS))],
    rename={f"field{number}": name for number, name in enumerate(_FIELDS)},
)
"""The fields that are decoded; others are skipped."""
_decode = msgspec.json.Decoder(_Record).decode
_texts, _times, _hosts, _programs, _processes, _around = (
    operator.attrgetter(*(f"field{_FIELDS.index(name)}" for name in group)) for group in _GROUPS
)
_is_told = functools.partial(operator.is_not, None)


def unpacked(buffer: bytes) -> bytes:
    """Replace each record by a line in the format of the Kubernetes runtimes: ``2025-01-01T00:00:00.5Z stdout F text``.

    A record that names its host and program becomes a syslog line. The number of lines does not change. Text that is
    not a record of a line with a time or a stream is unchanged. For records printed with one field per line, the line
    of the text field is replaced by that text, unless it has many lines itself: then it is no record of a line.
    """
    if b"{" not in buffer:
        return buffer
    if _BEGIN.search(b"\n" + buffer) is None:  # a pattern with a literal start is searched fast
        is_printed = any(name in buffer for name in _PRINTED) and _TIMED.search(buffer) is not None
        return _FIELD.sub(_text, buffer) if is_printed else buffer
    return _RECORD.sub(lambda found: b"\n" + _line(found[1]), b"\n" + buffer)[1:]


def _text(field: re.Match[bytes]) -> bytes:
    try:
        text = msgspec.json.decode(field[1], type=str).rstrip()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return field[0]
    return _one_line(text) if text.count("\n") < _MANY else field[0]


def _one_line(text: str) -> bytes:
    return " ".join(text.splitlines()).encode("utf-8", "replace")


def _line(record: bytes) -> bytes:
    plan = _plans.get(record.translate(_ZEROS))
    if plan is None:
        return _read(record)
    return b" ".join([record[part] if isinstance(part, slice) else part for part in plan])


def _read(record: bytes) -> bytes:
    try:
        told = _decode(record.rstrip(b",] \r"))  # a record in a list is followed by a comma
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return record
    text, time, (stream, inner) = _first(_texts(told)), _first(_times(told)), _around(told)
    clock = _time(time)
    if not isinstance(text, str) or (clock is None and not isinstance(stream, str)):
        return record
    head = _place(told, inner, clock) if clock else None
    if head is None:
        head = f"{clock or ''} {stream if stream in {'stdout', 'stderr'} else 'stdout'} F".lstrip()
    line = _one_line(f"{head} {text.rstrip()}")
    if clock is None or clock == time:
        _plan(record, line, [value.encode("utf-8", "replace") for value in (clock, text.rstrip()) if value])
    return line


def _plan(record: bytes, line: bytes, values: Iterable[bytes]) -> None:
    """Store where the parts of the line are in the record: the same in all records that differ only in digits."""
    parts: list[bytes | slice] = []
    for value in values:
        before, found, rest = line.partition(value)
        if b"\\" in record or record.count(value) != 1 or not found or _DIGIT.search(before):
            return
        at = record.index(value)
        parts += [*filter(None, [before.strip(b" ")]), slice(at, at + len(value))]
        line = rest
    if not line:
        if len(_plans) >= _PLANS:
            _plans.clear()
        _plans[record.translate(_ZEROS)] = tuple(parts)


def _place(told: object, inner: object, time: str) -> str | None:
    """The syslog prefix of a record that names its host and program; None for others."""
    host = _word(_first(_hosts(told))) or _inner(inner, _HOSTS)
    program, process = _word(_first(_programs(told))) or _inner(inner, _PROGRAMS), _first(_processes(told))
    if not host or not (program or process):
        return None
    return f"{time} {host} {program or 'program'}[{process if str(process).isdecimal() else 0}]:"


def _first(values: Iterable[object]) -> object:
    return next(filter(_is_told, values), None)


def _word(found: object) -> str | None:
    return found if isinstance(found, str) and _WORD.fullmatch(found) else None


def _inner(told: object, names: tuple[str, ...]) -> str | None:
    return _word(_first(map(told.get, names))) if isinstance(told, Mapping) else None


def _time(found: object) -> str | None:
    """The time in RFC 3339 format, or None. Numbers are seconds or, if they have more digits, fractions of them."""
    if isinstance(found, str) and _RFC.fullmatch(found):
        return found
    text = str(found)
    if not _DIGITS.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    seconds = float(f"{whole[:10]}.{whole[10:]}{fraction}")
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S.%f}Z"


def without_repeats(buffer: bytes) -> tuple[bytes, int]:
    """The buffer without Ray's ``[repeated ...]`` remarks, and the number of lines that Ray left out."""
    if _REPEATED_SIGN not in buffer:
        return buffer, 0
    left_out = sum(int(found[1]) for found in _REPEATED.finditer(buffer))
    return _REPEATED.sub(b"", buffer), left_out
