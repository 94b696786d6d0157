"""Lines that say nothing are passed over, and what is found is what would be found if each had been read."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenth import at_least, tenth

from ncdiag.messages.load import own_messages
from ncdiag.text.reading.judge import Judge
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.parts import Parts, read_part
from ncdiag.text.reading.sieve import ALIKE, COUNTERS, SHOWN, Sieve
from ncdiag.text.sources.text import Cleaner

_NUMBER = re.compile(r"(?<![A-Za-z_\d])\d+(?![A-Za-z_\d])")
"""Numbers; digits in names (``mlx5_0``, ``A100``) belong to the name."""
_ALONE = re.compile(r"(?<![\w.:/-])\d+(?![\w./-]|:\S)")
"""Numbers with nothing around them, such as may have any width."""
_DIGITS = re.compile(r" *[0-9a-f]*\d[0-9a-f]*")
_PLACES = ("fixtures/cases", "fixtures/healthy")
PROGRESS = {"progress-step", "progress-bar"}
LOOP = """\
[2026-03-02 12:00:{second:02d}] iteration {step:7d}/ 9000 | lm loss: {loss:.4f} | grad norm: {norm:.3f} |
7: [NeMo I 2026-03-02 12:00:{second:02d} model:{norm:.0f}] parameters on this device: {step}
loaded layer {step} from shard {second}
errors so far: 0
"""


def texts(project: Path) -> Iterator[str]:
    """The fixtures that are text."""
    for place in _PLACES:
        for path in sorted((project / place).rglob("*")):
            if path.is_file() and path.suffix in {".txt", ".log", ""}:
                yield path.read_text(encoding="utf-8", errors="replace")


def loop(steps: range, seed: int = 1) -> str:
    """What a program prints on its way."""
    chance = random.Random(seed)
    return "".join(
        LOOP.format(second=step % 60, step=step, loss=chance.random(), norm=chance.random() * 9) for step in steps
    )


def read(text: str) -> Reading:
    """The text as one part of a long source."""
    parts, cleaner = Parts("x"), Cleaner()
    parts.add(read_part("x", 0, [text.encode()], cleaner))
    return parts.reading()


def told(reading: Reading) -> Counter[str]:
    """What was observed, without how far the program had come."""
    return Counter(repr(seen) for seen in reading.observations if seen.fields.get("event") not in PROGRESS)


@pytest.mark.sweep
def test_a_fixture_among_steps_says_what_it_says(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed, count = Sieve.feed, 0
    for text in tenth(texts(project)):
        lines = text.splitlines(keepends=True)
        third = len(lines) // 3
        mixed = "".join(
            [loop(range(20)), *lines[:third], loop(range(20, 40)), *lines[third:], "\n", loop(range(40, 60))]
        )
        passed_over = read(mixed)
        with monkeypatch.context() as patch:
            patch.setattr(Sieve, "feed", lambda self, buffer, **_: feed(self, buffer, whole=True))
            each = read(mixed)
        assert told(passed_over) == told(each), text[:200]
        assert passed_over.unread_lines == each.unread_lines, text[:200]
        shown = Counter(_DIGITS.sub("0", span.text) for span in passed_over.unread)
        assert set(passed_over.unread) <= set(each.unread), text[:200]
        left_out = set(each.unread) - set(passed_over.unread)
        assert all(shown[_DIGITS.sub("0", span.text)] >= ALIKE for span in left_out), text[:200]
        count += 1
    assert count >= at_least(20)


def test_steps_cost_no_memory_and_their_ends_are_read() -> None:
    reading = read(loop(range(20_000)))
    events = [seen for seen in reading.observations if seen.entity == "Event"]
    assert {seen.fields["event"] for seen in events} == {"progress-step"}
    assert {seen.fields["fields"]["counted"] for seen in events} >= {1.0, 19_999.0}
    assert reading.lines == 80_000
    assert reading.unread_lines == 80_000
    assert len(reading.unread) == 4 * ALIKE


def test_lines_are_shown_as_if_all_parts_were_one() -> None:
    words = ["tensor", "layer", "shard", "queue", "batch"]
    lines = [f"{words[number % 5]} {words[number // 400]} took {number} of {number % 7} ms\n" for number in range(1500)]
    whole, parts, cleaner = read("".join(lines)), Parts("x"), Cleaner()
    for number in range(5):
        parts.add(read_part("x", number, ["".join(lines[300 * number :][:300]).encode()], cleaner))
    assert parts.reading().unread == whole.unread
    assert len(whole.unread) == 5 * 3 * ALIKE
    assert max(span.line for span in whole.unread) <= SHOWN


def test_a_counter_keeps_its_first_and_last_lines() -> None:
    steps = 5 * COUNTERS
    reading = read("".join(f"step {step} of 9000\n" for step in range(steps)))
    counted = [seen.fields["fields"]["counted"] for seen in reading.observations]
    assert counted == [1.0, steps - 3.0, steps - 2.0, steps - 1.0]


@pytest.mark.parametrize(
    "line",
    [
        "srun: error: node7: task 3: Exited with exit code 1",
        "worker 3: 12 of 16 links failed",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "cudaGetDeviceCount returned 802",
    ],
)
def test_a_failure_after_lines_like_it_is_seen(line: str) -> None:
    zero = re.sub(r"\d", "0", line)
    before = [zero] * 50 if zero != line else []
    found = read("\n".join([*before, line, *before, ""]))
    alone = read(line + "\n")
    names = {seen.fields.get("event") or seen.entity for seen in alone.observations}
    assert names
    assert names <= {seen.fields.get("event") or seen.entity for seen in found.observations}


def test_what_leads_is_read_with_the_next_line() -> None:
    error = "Last error:\nCall to connect returned Connection refused\n"
    text = "Call to connect returned Connection refused\n".join([loop(range(30)), error, loop(range(30, 60))])
    found = [seen for seen in read(text).observations if seen.fields.get("event") not in PROGRESS]
    assert [seen.span.line for seen in found].count(123) == 1


@pytest.mark.sweep
def test_numbers_alone_never_hide_a_line(project: Path) -> None:
    """A line that says something is not passed over because one that differs in its numbers said nothing."""
    judge, chance = Judge(), random.Random(7)
    examples = {message.example for message in own_messages()}
    lines = examples | {line for text in texts(project) for line in text.splitlines() if len(line) < 1000}
    asked, hidden = 0, []
    for line in tenth(sorted(line for line in lines if "NCCL " not in line and _NUMBER.search(line))):
        if judge.answer(line) is not None:
            continue
        asked += 1
        for digits, longer in (("0", 0), ("1", 0), ("0123456789", 0), ("0123456789", 1), ("123456789", 3)):
            pattern = _ALONE if longer else _NUMBER
            other = pattern.sub(
                lambda number: "".join(chance.choice(digits) for _ in range(len(number[0]) + longer)),  # noqa: B023
                line,
            )
            silence = judge.answer(other)
            if silence is not None and not judge.depends_on_numbers(other, silence):
                hidden.append((line, other))
                break
    assert asked > at_least(1000)
    assert len(hidden) <= max(1, 0.0025 * asked), hidden
    assert examples.isdisjoint(line for line, _ in hidden), hidden


def test_a_sentence_is_heard_unless_it_comes_again_and_again() -> None:
    said = "My job hangs on these machines after some minutes, what can I do?\n"
    once, often = read(loop(range(30)) + said), read((loop(range(30)) + said) * 9)
    assert [seen.entity for seen in once.observations].count("Complaint") == 1
    assert [seen.entity for seen in often.observations].count("Complaint") < 4


@pytest.mark.parametrize(
    ("silent", "telling"),
    [
        ("task 0 ended: Exit Code: 0 of 5", "task 0 ended: Exit Code: 134"),
        ("cudaGetDeviceCount returned 12345", "cudaGetDeviceCount returned 802"),
        ("[rank1]: task ab12cd34 failed with status 0", "[rank1]: task 12345678 failed with status 9"),
    ],
)
def test_a_number_of_another_width_is_not_passed_over(silent: str, telling: str) -> None:
    alone = {seen.fields.get("event") for seen in read(telling + "\n").observations}
    assert alone
    found = read("\n".join([*[silent] * 9, telling, ""]))
    assert alone <= {seen.fields.get("event") for seen in found.observations}
