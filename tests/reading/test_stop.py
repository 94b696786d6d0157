"""A reading that is stopped: at once while it waits, before the next piece otherwise; what was read stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.machine.inputs import inputs
from ncdiag.text.reading import one, parse
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.stop import INTERRUPTED, Stop, Stoppable
from ncdiag.text.sources.files import TextSource
from ncdiag.text.sources.model import Text

LINE = b"node1:7:7 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.5<0>\n"


class Fed(Text):
    """Three pieces of a text; ``waiting``: ``stop`` is asked while the reader waits for the second one."""

    def __init__(self, stop: Stop, *, waiting: bool) -> None:
        self.name, self.notes, self.asked_for = "fed", ["a note"], 0
        self._stop, self._waiting = stop, waiting

    def buffers(self) -> Iterator[bytes]:
        for number in range(3):
            self.asked_for += 1
            if self._waiting and number == 1:
                self._stop.ask()
            yield LINE


def test_asked_while_it_waits() -> None:
    stop = Stop()
    text = Stoppable(Fed(stop, waiting=True), stop)
    assert list(text.buffers()) == [LINE]
    assert text.notes == ["a note", INTERRUPTED]


def test_asked_while_a_piece_is_worked_on() -> None:
    stop = Stop()
    fed = Fed(stop, waiting=False)
    got = []
    for buffer in Stoppable(fed, stop).buffers():
        got.append(buffer)
        stop.ask()
    assert (got, fed.asked_for) == ([LINE], 1)


def test_nobody_asks() -> None:
    text = Stoppable(Fed(Stop(), waiting=False), Stop())
    assert list(text.buffers()) == [LINE] * 3
    assert text.notes == ["a note"]


def test_an_interrupt_that_nobody_asked_for_is_not_ours() -> None:
    def interrupted() -> Iterator[bytes]:
        yield LINE
        raise KeyboardInterrupt

    items = Stop().until(interrupted())
    assert next(items) == LINE
    with pytest.raises(KeyboardInterrupt):
        next(items)


def test_no_item_is_asked_for_afterwards() -> None:
    """The stream was read until then; the next item is never opened."""
    stop = Stop()
    asked_for = []

    def items() -> Iterator[Text]:
        for item in (Fed(stop, waiting=True), TextSource.of_bytes("later", LINE)):
            asked_for.append(item.name)
            yield item

    (reading,) = read_all(items(), stop=stop).readings
    assert (asked_for, reading.source, reading.lines) == (["fed"], "fed", 1)
    assert reading.notes == ("a note", INTERRUPTED)


def test_files_that_were_not_begun_are_left_out(tmp_path: Path) -> None:
    """A file whose reading is over when somebody asks is whole."""
    paths = [str(tmp_path / f"{number}.log") for number in range(3)]
    for path in paths:
        Path(path).write_bytes(LINE)
    stop = Stop()
    case = read_all(inputs(paths), stop=stop, progress=lambda *_: stop.ask(), processes=1)
    assert [(reading.source, reading.lines) for reading in case.readings] == [(paths[0], 1)]


def test_asked_while_sections_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was parsed until then counts; the rest is left out, with a note."""
    stop, parsed = Stop(), []
    usual = parse._parsed

    def asking(section: Section, faults: list[str]) -> Parsed:
        parsed.append(section.kind)
        stop.ask()
        return usual(section, faults)

    monkeypatch.setattr(parse, "_parsed", asking)
    monkeypatch.setattr(one, "LIMIT", 0)
    text = LINE + b"$ ulimit -l\n64\n$ nproc\n8\n$ df -h /dev/shm\nFilesystem Size Used Avail Use% Mounted on\n"
    reading = one.read_source(Stoppable(TextSource.of_bytes("paste", text), stop))
    assert (parsed, reading.notes) == (["ulimit"], (INTERRUPTED,))
    assert {"Rank", "Limit"} == {found.entity for found in reading.observations}


def test_asked_before_sections_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read until then is parsed."""
    stop = Stop()
    monkeypatch.setattr(one, "LIMIT", 0)

    class Ending(Text):
        def __init__(self) -> None:
            self.name, self.notes = "ending", []

        def buffers(self) -> Iterator[bytes]:
            yield b"$ ulimit -l\n64\n"
            stop.ask()

    reading = one.read_source(Stoppable(Ending(), stop))
    assert [piece.kind for piece in reading.pieces] == ["ulimit"]
