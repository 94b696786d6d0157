"""A log that is scanned in parts gives what it gives as a whole: parts are merged, in any grouping."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from generate import healthy
from generate.sample import SAMPLE

from ncdiag.facts.observe import Parsed
from ncdiag.parsers.nccl_log import Scanner

HERE = Path(__file__).parent
LOGS = sorted((HERE.parents[2] / "fixtures" / "sections" / "nccl_log").glob("*.txt"))


def scanner(data: bytes, first_line: int = 1) -> Scanner:
    found = Scanner("job.log", first_line=first_line)
    found.feed(data)
    return found


def by_parts(lines: list[bytes], borders: list[int]) -> Parsed:
    """Scan the stretches between the borders apart, send each through pickle, merge from the left."""
    first: Scanner | None = None
    for start, end in zip([0, *borders], [*borders, len(lines)], strict=True):
        part = pickle.loads(pickle.dumps(scanner(b"".join(lines[start:end]), 1 + start)))  # noqa: S301  (our own)
        if first is None:
            first = part
        else:
            first.merge(part)
    assert first is not None
    return first.finish()


@pytest.mark.parametrize(
    "data", [SAMPLE.encode(), *(path.read_bytes() for path in LOGS)], ids=["sample", *(p.stem for p in LOGS)]
)
def test_cut_at_every_line(data: bytes) -> None:
    lines, whole = data.splitlines(keepends=True), scanner(data).finish()
    for border in range(len(lines) + 1):
        assert by_parts(lines, [border]) == whole
    assert by_parts(lines, list(range(1, len(lines)))) == whole


@pytest.mark.parametrize("release", healthy.RELEASES)
def test_cut_anywhere(release: str) -> None:
    lines = healthy.healthy_log(healthy.healthy_job(release, "roce")).encode().splitlines(keepends=True)
    whole = scanner(b"".join(lines)).finish()
    chance = random.Random(release)
    for count in (1, 2, 7):
        assert by_parts(lines, sorted(chance.sample(range(len(lines)), count))) == whole


def test_a_long_log_with_calls(tmp_path: Path) -> None:
    log = tmp_path / "info.log"
    healthy.write_info_log(log, 3, 0.4, call_share=0.3)
    lines = log.read_bytes().splitlines(keepends=True)
    whole = scanner(b"".join(lines)).finish()
    assert any(o.entity == "CollectiveSum" for o in whole.observations)
    assert by_parts(lines, [1000, 9000, 9001, 20000]) == whole


def test_merging_is_associative() -> None:
    lines = SAMPLE.encode().splitlines(keepends=True)
    for first in range(1, len(lines) - 1, 3):
        for second in range(first + 1, len(lines), 4):
            a, b, c = (
                scanner(b"".join(lines[i:j]), i + 1) for i, j in ((0, first), (first, second), (second, len(lines)))
            )
            b.merge(c)
            a.merge(b)
            assert a.finish() == by_parts(lines, [first, second])


def test_what_a_part_sends_does_not_grow_with_it(tmp_path: Path) -> None:
    log = tmp_path / "info.log"
    healthy.write_info_log(log, 4, 0.5, call_share=0.3)
    data = log.read_bytes()
    half = data.find(b"\n", len(data) // 2) + 1
    short, long = (len(pickle.dumps(scanner(part))) for part in (data[:half], data))
    assert long < 1.2 * short


def test_equal_lines_are_counted_like_different_ones() -> None:
    line = b"n1:9:%d [0] NCCL INFO Channel %02d/0 : 0[0] -> 1[1] via P2P/IPC\n"
    equal, different = Scanner("x"), Scanner("x")
    for number in range(60):
        equal.feed(b"".join(line % (9, index % 32) for index in range(500)))
        different.feed(b"".join(line % (number * 500 + index, index % 32) for index in range(500)))
    counts = [
        [o.fields["transports"] for o in found.finish().observations if "transports" in o.fields]
        for found in (equal, different)
    ]
    assert counts == [[{"P2P/IPC": 30000}]] * 2


def test_a_warning_that_comes_again_between_equal_lines_is_counted_each_time() -> None:
    noise = b"".join(
        b"n1:9:9 [0] NCCL INFO Channel %02d/0 : 0[0] -> 1[1] via P2P/IPC\n" % index for index in range(100)
    )
    found = Scanner("x")
    for _ in range(20):
        assert found.feed(noise + b"n1:9:9 [0] a.cc:1 NCCL WARN nobody knows this\nhello\n") != []
    told = [o for o in found.finish().observations if o.entity == "Event"]
    assert [(o.fields["count"], o.span.line) for o in told] == [(20, 101)]
