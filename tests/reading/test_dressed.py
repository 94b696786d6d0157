"""What is around nearly all lines of a long source comes off, at the cost of two readings of a few lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from generate.kinds import KINDS, text

from ncdiag.facts.observe import Observation
from ncdiag.text import LIMIT, Text, TextSource, open_sources
from ncdiag.text.reading import workers
from ncdiag.text.reading.dressed import LINES, clothes_of
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.one import is_dressed
from ncdiag.text.sections.line import Line
from ncdiag.text.sections.undress import Said

STEP = "step {n:6} of 90000, loss 2.{m:03}"
PASTE = ["$ ulimit -l", "64", "RuntimeError: CUDA error: an illegal memory access was encountered"]
STEPS = [STEP.format(n=n, m=n % 900) for n in range(9000)]
BARE = [*STEPS[:5000], *PASTE, *STEPS[5000:]]
DRESSED: dict[str, Callable[[int, str], str]] = {
    "numbers": lambda n, line: f"{n:6}\t{line}",
    "less": lambda n, line: f"{n:7} {line}",
    "grep": lambda n, line: f"{n}:{line}",
    "syslog": lambda n, line: f"<14>Mar  2 04:11:{n % 60:02} login1 job[812]: {line}",
    "numbered syslog": lambda n, line: f"{n:6}\tMar  2 04:11:{n % 60:02} login1 job[812]: {line}",
    "kubectl": lambda _, line: f"[pod/train-0/main] {line}",
}


HOSTS = {"syslog": "login1", "numbered syslog": "login1", "kubectl": "train-0"}


def dressed(name: str, lines: Sequence[str] = BARE) -> bytes:
    return "".join(f"{DRESSED[name](number, line)}\n" for number, line in enumerate(lines, 1)).encode()


def observed(data: bytes) -> list[Observation]:
    (reading,) = read_all([TextSource.of_bytes("job.log", data)]).readings
    return [found for found in reading.observations if found.fields.get("event") != "progress-step"]


class Reader:
    """Counts how often lines are read, and how many; they say what they are told to say."""

    def __init__(self, *said: int) -> None:
        self.said, self.read = list(said), list[int]()

    def __call__(self, lines: Sequence[Line]) -> frozenset[Said]:
        self.read.append(len(lines))
        return frozenset(("Event", "", "", "", str(number)) for number in range(self.said.pop(0)))


@pytest.mark.parametrize("name", DRESSED)
def test_a_long_source_says_what_it_says_without_its_clothes(name: str) -> None:
    bare, other = "".join(f"{line}\n" for line in BARE).encode(), dressed(name)
    assert min(len(bare), len(other)) > LIMIT
    found, expected = observed(other), observed(bare)
    assert {each.entity for each in expected} == {"Limit", "Event"}
    assert [(each.entity, each.key, each.span) for each in found] == [
        (each.entity, each.key, each.span) for each in expected
    ]
    assert {each.host for each in found} == {HOSTS.get(name)}


@pytest.mark.parametrize("name", ["numbers", "less", "grep"])
def test_numbers_are_certain(name: str) -> None:
    reader = Reader()
    clothes = clothes_of(dressed(name).decode(), reader)
    assert clothes is not None
    assert not reader.read
    assert b"".join(clothes.taken_off([dressed(name)])).decode().splitlines() == BARE


@pytest.mark.parametrize(("said", "comes_off"), [((2, 1), True), ((1, 1), False), ((1, 2), False)])
def test_a_frame_comes_off_where_a_sample_says_more_without_it(said: tuple[int, int], *, comes_off: bool) -> None:
    reader = Reader(*said)
    clothes = clothes_of("".join(f"| {line} |\n" for line in BARE), reader)
    assert (clothes is not None) is comes_off
    assert len(reader.read) == 2
    assert max(reader.read) <= LINES


@pytest.mark.parametrize(("said", "comes_off"), [((1, 1), True), ((1, 2), False)])
def test_a_sure_head_comes_off_unless_a_sample_says_less_without_it(said: tuple[int, int], *, comes_off: bool) -> None:
    assert (clothes_of(dressed("syslog").decode(), Reader(*said)) is not None) is comes_off


def test_the_lines_of_several_processes_are_not_mixed_up() -> None:
    lines = "".join(f"Mar  2 04:11:07 login1 job[{number % 3}]: {line}\n" for number, line in enumerate(BARE))
    reader = Reader()
    assert clothes_of(lines, reader) is None
    assert not reader.read


def test_samples_are_read_without_two_layers_at_most() -> None:
    reader = Reader(1, 1, 1, 1)
    lines = "".join(f"[pod/a/main] [pod/a/main] [pod/a/main] {line}\n" for line in BARE)
    clothes = clothes_of(lines, reader)
    assert clothes is not None
    assert len(clothes.layers) == 2
    assert len(reader.read) == 4


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"sacct"}))  # its rows have rising numbers, here all of them
def test_ordinary_text_keeps_what_it_has(kind: str) -> None:
    lines = text(kind, 20_000)
    assert len(lines) > LIMIT
    assert not is_dressed(TextSource.of_bytes("x", lines.encode()))


def test_a_dressed_file_is_read_alike_by_worker_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(dressed("syslog", BARE * 2))
    monkeypatch.setattr(workers, "PART_SIZES", (100_000, 100_000))
    alone, shared = (
        read_all([item for item in open_sources([str(path)]) if isinstance(item, Text)], processes=n, worthwhile=1)
        for n in (1, 2)
    )
    assert shared.readings == alone.readings
    assert "login1" in {found.host for reading in alone.readings for found in reading.observations}
