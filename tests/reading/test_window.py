"""A window of time: the lines in it and their numbers, days, zones and clocks, and the bytes read of a long file."""

from __future__ import annotations

import io
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ncdiag.formats.moments import Moment
from ncdiag.machine.inputs import inputs
from ncdiag.text.reading.growing import Growing
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import File, TextSource
from ncdiag.text.window import seek
from ncdiag.text.window.bounds import Bounds, Window, resolved, window_of
from ncdiag.text.window.cut import WindowedFile, WindowedText
from ncdiag.text.window.extent import extent_of

NOW = 1777852800.0
"""2026-05-04 00:00:00 UTC."""
BEGIN = datetime(2026, 5, 3, 3, 0, tzinfo=timezone.utc)
WARN = "srv1:7:7 [0] NCCL WARN Call to connect to 10.0.0.9<4000> failed : Connection refused"


def asked(since: str | None = None, until: str | None = None, compare: str | None = None, now: float = NOW) -> Window:
    window = window_of(since, until, compare)
    assert window is not None
    return Window(since=window.since, until=window.until, compare=window.compare, now=now, local=0)


def cut(text: str, window: Window) -> tuple[str, WindowedText]:
    """What is read of a stream."""
    source = WindowedText(TextSource.of_bytes("x", text.encode()), window)
    return b"".join(source.buffers()).decode(), source


def file_of(path: Path, lines: list[str]) -> File:
    path.write_text("".join(f"{line}\n" for line in lines))
    return File(str(path), lambda: io.FileIO(path), path.stat().st_size, str(path))


def test_lines_without_a_stamp_belong_to_the_last_one() -> None:
    text = "head\n03:09:00 a\nb\n03:10:00 c\nd\n03:11:00 e\n03:15:00 f\ng\n03:16:00 h\ni\n"
    found, source = cut(text, asked("03:10", "03:15"))
    assert found == "03:10:00 c\nd\n03:11:00 e\n03:15:00 f\ng\n"
    assert source.first_line == 4
    assert cut(text, asked(until="03:09"))[0] == "head\n03:09:00 a\nb\n"


def test_the_numbers_of_lines_stay() -> None:
    text = f"03:00:00 a\n03:10:00 b\n{WARN}\n03:20:00 c\n\n03:10:30 late\n03:10:40 {WARN}\n"
    reading = read_source(WindowedText(TextSource.of_bytes("x", text.encode()), asked("03:10", "03:15")))
    lines = [found.span.line for found in reading.observations]
    assert {3, 7} <= set(lines) <= {2, 3, 6, 7}


def test_a_text_without_stamps_is_read_whole_and_says_so() -> None:
    found, source = cut("a\nb\n", asked("03:10"))
    assert (found, source.notes) == ("a\nb\n", ["it has no stamps and was read whole"])


def test_a_window_that_holds_nothing_says_which_times_there_are() -> None:
    found, source = cut("2026-05-03 03:10:00 a\n2026-05-03 03:20:00 b\n", asked("2026-05-03 04:00", "2026-05-03 05:00"))
    assert (found, source.notes) == (
        "",
        [("it has no line between 2026-05-03 04:00:00 and 2026-05-03 05:00:00: "
          "its times go from 2026-05-03 03:10:00 to 2026-05-03 03:20:00")],
    )  # fmt: skip


def test_stamps_that_go_back_are_counted() -> None:
    text = "2026-05-03 04:00:00 a\n2026-05-03 03:00:00 b\n2026-05-03 04:00:10 c\n2026-05-03 03:00:10 d\n"
    found, source = cut(text, asked("2026-05-03 03:30"))
    assert found == "2026-05-03 04:00:00 a\n\n2026-05-03 04:00:10 c\n"
    assert source.notes == [
        (
            "its stamps go back 2 times, first from 2026-05-03 04:00:00 to 2026-05-03 03:00:00; "
            "each line was taken by its stamp"
        ),
    ]


def test_stamps_without_a_year_go_on_in_the_next_one() -> None:
    text = "E1230 03:10:12.1 1 a.cc:1] x\nE1231 23:10:12.1 1 a.cc:1] y\nE0101 00:00:12.1 1 a.cc:1] z\n"
    found, source = cut(text, asked("2025-12-31 23:00"))
    assert found == text.partition("\n")[2]
    assert source.notes == ["its stamps have no year; the first was read as 2025-12-30 03:10:12"]
    assert cut(text, asked("-1d"))[1].notes[-1] == source.notes[0], "it is not a time after now"


def test_several_zones_are_one_time() -> None:
    text = "2026-05-03T03:10:00+02:00 a\n2026-05-03T01:11:00Z b\n2026-05-03T01:20:00Z c\n"
    found, source = cut(text, asked("03:10", "03:15"))
    assert found == "2026-05-03T03:10:00+02:00 a\n2026-05-03T01:11:00Z b\n"
    assert source.notes == ["its stamps have several zones (+00:00, +02:00); the window is in +02:00"]


def test_one_zone_that_is_not_that_of_the_window(tmp_path: Path) -> None:
    lines = ["2026-05-03T03:10:00+08:00 a", "2026-05-03T03:11:00+08:00 b"]
    source = WindowedFile(file_of(tmp_path / "x.log", lines), Bounds(zone=0))
    b"".join(source.buffers())
    assert source.notes == ["its stamps are in +08:00; the window is in +00:00"]


@pytest.mark.parametrize(
    ("since", "until", "text", "begin", "end"),
    [
        ("03:10", "03:15", b"2026-05-01 03:00:00 a\n2026-05-01 04:00:00 b\n",
         "2026-05-01 03:10:00", "2026-05-01 03:15:00"),
        ("23:50", "00:10", b"2026-05-01 23:00:00 a\n2026-05-02 01:00:00 b\n",
         "2026-05-01 23:50:00", "2026-05-02 00:10:00"),
        ("2026-05-01 23:50", "00:10", b"2026-05-01 23:00:00 a\n", "2026-05-01 23:50:00", "2026-05-02 00:10:00"),
        ("-10min", None, b"2026-05-03 23:55:00 a\n", "2026-05-03 23:50:00", None),
        ("May 1 03:10", "03:15", b"2026-05-01 03:00:00 a\n2026-05-01 04:00:00 b\n",
         "2026-05-01 03:10:00", "2026-05-01 03:15:00"),
        ("Dec 31 23:50", "Jan 1 00:10", b"2024-12-31 23:00:00 a\n2025-01-01 01:00:00 b\n",
         "2024-12-31 23:50:00", "2025-01-01 00:10:00"),
        ("May 1 03:10", None, b"May  1 03:00:00 n1 a\nMay  1 04:00:00 n1 b\n", "2026-05-01 03:10:00", None),
        ("2026-05-01 03:10Z", None, b"2026-05-01T03:00:00+02:00 a\n", "2026-05-01 05:10:00+02:00", None),
    ],
)  # fmt: skip
def test_days_and_zones_are_those_of_the_input(
    since: str, until: str | None, text: bytes, begin: str, end: str | None
) -> None:
    window = asked(since, until)
    if since.startswith("-"):
        window = Window(since=Moment(NOW - 600, 0), now=NOW, local=0)
    bounds = resolved(window, [extent_of(text, ends=True)])
    assert bounds.written(bounds.since) == begin
    assert end is None or bounds.written(bounds.until) == end


@pytest.mark.parametrize("window", [asked("2026-05-03"), asked(until="0001-01-02"), asked(compare="10m")])
def test_the_ends_of_the_calendar_are_stamps(window: Window) -> None:
    text = "9999-12-31 23:59:59 -12:00 x\n0001-01-01 00:00:00+14:00 y\n2026-05-03T03:10:12+99:99 z\n"
    _, source = cut(text, window)
    assert source.notes[-1].startswith("its stamps have several zones (")
    assert source.bounds is not None
    assert source.bounds.text()


def test_clocks_apart_move_the_window_of_a_file(tmp_path: Path) -> None:
    """Eight ranks each on three hosts; the clock of one is 100 s ahead."""
    for number, ahead in enumerate((0, 0, 100)):
        start = BEGIN + timedelta(seconds=ahead)
        lines = [
            f"[{start:%Y-%m-%d %H:%M:%S}] srv{number}:1{rank}:1{rank} [{rank}] NCCL INFO comm 0x{number}{rank} rank "
            f"{number * 8 + rank} nRanks 24 nNodes 3 localRanks 8 localRank {rank} MNNVL 0"
            for rank in range(8)
        ]
        times = (start + timedelta(minutes=minute, seconds=30) for minute in range(20))
        lines += [f"[{moment:%Y-%m-%d %H:%M:%S}] step" for moment in times]
        file_of(tmp_path / f"srv{number}.log", lines)
    case = read_all(inputs([str(tmp_path)]), window=asked("2026-05-03 03:10", "2026-05-03 03:12"))
    assert case.window is not None
    assert case.window.notes == ("the clock of srv2 is 100 s ahead; its window was moved",)
    assert [text.lines for text in case.texts if isinstance(text, Reading)] == [2, 2, 2]


def growing_file(path: Path, seconds: int) -> File:
    """A line each second."""
    lines = (f"{BEGIN + timedelta(seconds=n):%Y-%m-%d %H:%M:%S} srv1 step {n} {'x' * 1000}" for n in range(seconds))
    return file_of(path, list(lines))


def test_of_a_long_file_only_the_bytes_of_the_window_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = growing_file(tmp_path / "a.log", 20_000)
    size = 0

    class Counted(io.FileIO):
        def read(self, most: int | None = -1, /) -> bytes:
            nonlocal size
            data = super().read(most)
            size += len(data)
            return data

    monkeypatch.setattr(io, "FileIO", Counted)
    since = BEGIN.timestamp() + 15_000
    bounds = Bounds(since=since, until=since + 300)
    found = seek.windowed(file, bounds, 1 << 20)
    text = b"".join(found.buffers())
    assert text == b"".join(WindowedFile(file, bounds).buffers())
    assert text.startswith(b"2026-05-03 07:10:00 srv1 step 15000 ")
    size = 0
    assert b"".join(seek.windowed(file, bounds, 1 << 20).buffers()) == text
    assert size < file.size // 4
    assert found.notes[0].startswith("only bytes ")


def test_a_long_file_whose_stamps_go_back_is_read_whole(tmp_path: Path) -> None:
    lines = [f"{BEGIN + timedelta(seconds=n % 3000):%Y-%m-%d %H:%M:%S} srv1 step {n} {'x' * 400}" for n in range(9000)]
    file = file_of(tmp_path / "a.log", lines)
    bounds = Bounds(since=BEGIN.timestamp() + 100, until=BEGIN.timestamp() + 109)
    text = b"".join(seek.windowed(file, bounds, 1 << 20).buffers())
    assert [line.split()[4] for line in text.splitlines() if line] == [
        str(start + n).encode() for start in (0, 3000, 6000) for n in range(100, 110)
    ]


def test_a_log_that_grows_is_cut_to_the_window() -> None:
    growing = Growing("x", window=asked("2026-05-03 03:10"))
    for piece in (b"2026-05-03 03:00:00 ", f"{WARN}\n2026-05-03 03:10".encode(), f":01 {WARN}\n".encode()):
        growing.feed(piece)
    assert {found.span.line for found in growing.reading().observations} == {2}


def test_the_first_difference_from_the_time_before(tmp_path: Path) -> None:
    """A new kind of line, and a kind that came every 10 s and came no more."""
    lines = [f"{BEGIN + timedelta(seconds=10 * n):%Y-%m-%d %H:%M:%S} srv1 step {n} loss 2.{n}" for n in range(90)]
    lines[75:] = [f"{BEGIN + timedelta(seconds=10 * n):%Y-%m-%d %H:%M:%S} srv1 heartbeat {n}" for n in range(75, 119)]
    lines.insert(70, f"2026-05-03 03:11:40 {WARN}")
    file_of(tmp_path / "a.log", lines)
    case = read_all(inputs([str(tmp_path / "a.log")]), window=asked(compare="10m"))
    assert case.window is not None
    assert case.window.changes is not None
    found = [(change.what, case.window.bounds.written(change.time)[11:], change.line) for change in case.window.changes]
    assert found == [("new", "03:11:40", 71), ("new", "03:12:30", 77), ("stopped", "03:12:30", 76)]
    streamed = WindowedText(TextSource.of_bytes("-", "\n".join([*lines, ""]).encode()), asked(compare="10m"))
    assert list(streamed.buffers())
    assert streamed.comparison is not None
    assert [change.line for change in streamed.comparison.found({"-": streamed.first_line})] == [71, 77, 76]


def test_nothing_differs_in_a_log_that_goes_on(tmp_path: Path) -> None:
    lines = [f"{BEGIN + timedelta(seconds=10 * n):%Y-%m-%d %H:%M:%S} srv1 step {n} loss 2.{n}" for n in range(190)]
    file_of(tmp_path / "a.log", lines)
    case = read_all(inputs([str(tmp_path / "a.log")]), window=asked(compare="10m"))
    assert case.window is not None
    assert case.window.changes == ()


def stepped(*pauses: float, start: float = 0.0, ranks: int = 1) -> list[str]:
    """A line of each rank after each of the pauses."""
    lines, second = [], start
    for number, pause in enumerate(pauses):
        second += pause
        time = f"{BEGIN + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}"
        lines += [f"{time} srv1 rank {rank} step {number} loss 2.{number}" for rank in range(ranks)]
    return lines


@pytest.mark.parametrize("ranks", [1, 8])
def test_a_kind_that_comes_slower_is_a_difference(tmp_path: Path, ranks: int) -> None:
    """From 03:10:00 on the steps take 40 s in place of 10 s."""
    lines = stepped(*[10] * 60, *[40] * 10, ranks=ranks)
    file_of(tmp_path / "a.log", lines)
    case = read_all(inputs([str(tmp_path / "a.log")]), window=asked("03:10", compare="10m"))
    assert case.window is not None
    assert case.window.changes is not None
    (change,) = case.window.changes
    assert (change.what, case.window.bounds.written(change.time)[11:]) == ("slower", "03:10:10")
    assert (change.every, change.now) == (10, 40)
    assert f"step {60} " in change.text


@pytest.mark.parametrize(
    "pauses",
    [
        [10] * 130,
        [10] * 60 + [10] * 10 + [120] + [10] * 20 + [120] + [10] * 20,
        ([10] * 9 + [90]) * 12,
        [10, 30] * 30 + [30] * 15,
        [10] * 60 + [9, 14] * 25,
        [1, 2, 1] * 150 + [2, 1, 3] * 100,
        [300] * 4,
    ],
    ids=["steady", "two saves", "saves before", "uneven before", "a little slower", "seconds", "too few"],
)
def test_pauses_that_are_usual_are_no_difference(tmp_path: Path, pauses: list[int]) -> None:
    file_of(tmp_path / "a.log", stepped(*pauses))
    case = read_all(inputs([str(tmp_path / "a.log")]), window=asked("03:10", compare="10m"))
    assert case.window is not None
    assert case.window.changes == ()


def test_files_of_several_ranks_do_not_slow_each_other(tmp_path: Path) -> None:
    for rank in range(3):
        file_of(tmp_path / f"{rank}.log", stepped(*[10] * 100, start=rank))
    case = read_all(inputs([str(tmp_path)]), window=asked("03:10", compare="10m"))
    assert case.window is not None
    assert case.window.changes == ()


@pytest.mark.parametrize(
    ("since", "until", "compare", "said"),
    [
        ("2026-05-03 04:00", "2026-05-03 03:00", None, "ends before it begins"),
        (None, None, "0", "a window of 0 seconds"),
        ("3 pm", None, None, "is not a time"),
    ],
)
def test_what_is_no_window_is_refused(since: str | None, until: str | None, compare: str | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        window_of(since, until, compare)
