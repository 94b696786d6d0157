"""Stamps of lines, in every form that programs print, and moments as people write them."""

from __future__ import annotations

import pytest

from ncdiag.formats.moments import Moment, moment, span, written
from ncdiag.formats.stamps import Stamp, completed, stamp_of, stamps

DAY = 86400
AT = 1777777812.0
"""2026-05-03 03:10:12 as if it were UTC."""
OF_LEAP = 73710612.0
"""1972-05-03 03:10:12."""


@pytest.mark.parametrize(
    ("line", "stamp"),
    [
        (b"2026-05-03 03:10:12,345+02:00 step 3", Stamp(AT, 7200)),
        (b"2026-05-03T03:10:12.123456789Z stderr F step", Stamp(AT, 0)),
        (b"[2026-05-03 03:10:12] srv1:12:13 [0] net.cc:1 NCCL WARN x", Stamp(AT)),
        (b"srv1:12:13 [0] 2026-05-03 03:10:12 NCCL INFO x", Stamp(AT)),
        (b"[rank3]:[E503 03:10:12.662 ProcessGroupNCCL.cpp:632] x", Stamp(OF_LEAP, None, "year")),
        (b"[rank3]:[E0503 03:10:12.662 ProcessGroupNCCL.cpp:632] x", Stamp(OF_LEAP, None, "year")),
        (b"E20260503 03:10:12.662 1 a.cc:1] x", Stamp(AT)),
        (b"INFO 05-03 03:10:12 [core.py:3] x", Stamp(OF_LEAP, None, "year")),
        (b"May  3 03:10:12 srv1 kernel: x", Stamp(OF_LEAP, None, "year")),
        (b"[Sun May  3 03:10:12 2026] x", Stamp(AT)),
        (b"[May 03 2026 03:10:12] [INFO] [tid 12] x", Stamp(AT)),
        (b"05/03/2026 03:10:12 - INFO - x", Stamp(AT)),
        (b'time="2026-05-03T03:10:12-0700" level=info', Stamp(AT, -25200)),
        (b"(RayWorker rank=3 pid=123) 2026/05/03 03:10:12 x", Stamp(AT)),
        (b"[1,3]<stderr>:2026-05-03 03:10:12 x", Stamp(AT)),
        (b"srv-1 | 03:10:12 x", Stamp(11412.0, None, "date")),
        (b"loaded the checkpoint from 2026-05-03 03:10:12", None),
        (b"srv1:12:13 [0] NCCL INFO took 00:11:22", None),
        (b" 75%|###  | 3/4 [01:02:33<00:00:12,  2.1s/it]", None),
        (b"ether 02:42:ac:11:00:02  txqueuelen 1000", None),
        (b"0000:07:00.0 Infiniband controller", None),
        (b"2026-13-03 03:10:12 x", None),
        (b"2026-02-30 03:10:12 x", None),
        (b"2026-05-03 33:10:12 x", None),
    ],
)
def test_the_stamp_of_a_line(line: bytes, stamp: Stamp | None) -> None:
    assert stamp_of(line) == stamp


def test_only_the_first_clock_of_a_line_is_its_stamp() -> None:
    text = b"a\n2026-05-03 03:10:12 x 04:00:00\nb\n03:10:13 2026-05-03 03:10:12\n"
    assert [(place, stamp.wall) for place, stamp in stamps(text)] == [(2, AT), (35, 11413.0)]


@pytest.mark.parametrize(
    ("stamp", "near", "wall"),
    [
        (Stamp(OF_LEAP, None, "year"), AT + 100 * DAY, AT),
        (Stamp(OF_LEAP, None, "year"), AT - 300 * DAY, AT - 365 * DAY),
        (Stamp(11412.0, None, "date"), AT + DAY / 3, AT),
        (Stamp(11412.0, None, "date"), AT + DAY / 1.5, AT + DAY),
        (Stamp(AT), 0.0, AT),
    ],
)
def test_what_a_stamp_lacks_is_taken_from_a_moment_near_it(stamp: Stamp, near: float, wall: float) -> None:
    assert completed(stamp, near) == Stamp(wall)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-03 03:10:12", Moment(AT)),
        ("2026-05-03T03:10:12.5Z", Moment(AT, 0)),
        ("2026-05-03 03:10 +02:00", Moment(AT - 12, 7200)),
        ("2026-05-03", Moment(AT - 11412)),
        ("03:10", Moment(11400.0, None, clock=True)),
        ("@1777777812", Moment(AT, 0)),
        ("now", Moment(AT, 0)),
        ("-10min", Moment(AT - 600, 0)),
        ("+1h 30m", Moment(AT + 5400, 0)),
        ("2 hours ago", Moment(AT - 7200, 0)),
        ("today", Moment(AT - 11412)),
        ("yesterday", Moment(AT - 11412 - DAY)),
        ("tomorrow", Moment(AT - 11412 + DAY)),
    ],
)
def test_a_moment_as_people_write_it(text: str, expected: Moment) -> None:
    assert moment(text, AT, 3600) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Sun 2026-05-03 03:10:12", "26-05-03 03:10:12", "[Sun May  3 03:10:12 2026]", "May 3 2026, 03:10:12",
        "3 May 2026 03:10:12", "2026/05/03 03:10:12", "05/03/2026 03:10:12", "03/May/2026:03:10:12",
        "Sun May  3 03:10:12 AM 2026", "2026-05-03_03:10:12",
    ],
)  # fmt: skip
def test_a_moment_as_programs_print_it(text: str) -> None:
    assert moment(text, AT, 0) == Moment(AT)


@pytest.mark.parametrize(
    "text", ["May 3 03:10:12", "May  3 03:10:12", "3 May 03:10:12", "05-03 03:10:12", "E0503 03:10:12", "0503 03:10:12"]
)
def test_a_moment_without_its_year(text: str) -> None:
    assert moment(text, AT, 0) == Moment(OF_LEAP, None, yearless=True)


def test_zones_and_units_of_systemd() -> None:
    assert moment("2026-05-03 12:10:12 Asia/Tokyo", AT, 0) == Moment(AT + 9 * 3600, 9 * 3600)
    assert moment("03/May/2026:05:10:12 +0200", AT, 0) == Moment(AT + 7200, 7200)
    assert moment("5min left", AT, 0) == Moment(AT + 300, 0)
    assert moment("yesterday 03:10", AT, 0) == Moment(AT - 12 - DAY)
    assert span("1M") > 29 * DAY > span("1m") == 60


@pytest.mark.parametrize("text", ["2026-05-03 03:10 CET", "2026-05-03 03:10 Mars/Base"])
def test_a_zone_that_nothing_defines_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not the zone of one place|does not know the zone"):
        moment(text, AT, 0)


@pytest.mark.parametrize(
    "text",
    ["", "3pm", "2026-02-30", "25:00", "03:61", "May", "May 32", "13:00 PM", "10min", "-10 parsecs", "2026", "@x"],
)
def test_what_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time|does not exist|is not a duration"):
        moment(text, AT, 0)


def test_durations() -> None:
    assert [span(text) for text in ("10m", "90", "1h30m", "2 days, 1.5 s", "5 minutes")] == [
        600, 90, 5400, 172801.5, 300,
    ]  # fmt: skip


def test_a_moment_is_written_with_its_zone() -> None:
    assert [written(AT), written(AT, 0), written(AT, -12600)] == [
        "2026-05-03 03:10:12", "2026-05-03 03:10:12+00:00", "2026-05-03 03:10:12-03:30",
    ]  # fmt: skip


def test_moments_that_no_calendar_has_are_written_as_its_ends() -> None:
    assert written(-1e15) == "0001-01-01 00:00:00"
    assert written(1e15, 0) == "9999-12-31 23:59:59+00:00"
