"""The work for a text grows with its length, whatever kind of text it is, and each line is read a few times at most."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from generate.kinds import KINDS, text
from linear import calls

from ncdiag.diagnose import diagnose
from ncdiag.formats import guarded, line_kinds
from ncdiag.formats.blocks import kinds
from ncdiag.formats.blocks.assorted import Failure
from ncdiag.parsers.user_text import trials
from ncdiag.text import TextSource, read_all
from ncdiag.text.reading import one
from ncdiag.text.reading.sieve import SHOWN
from ncdiag.text.sections import unwrap
from ncdiag.text.sections.cut import Cutter
from ncdiag.text.sections.kinds import kinds_of
from ncdiag.text.sections.line import Line

FEW, TIMES = 220, 4
"""The lines of the shorter text, and how much longer the other one is."""
MANY = 2000
"""Lines of a text so long that what is read of each block, to find what surrounds it, matters little."""
SLACK = 1.25
"""Work may grow by this much more than the text: tables of names that fill up."""
READ = 4
"""How often each line may be read on average, of which once for the answer, the rest to find what surrounds it."""


def judged(given: str) -> object:
    return diagnose([TextSource.of_bytes("x", given.encode())])


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_the_work_grows_with_the_text(kind: str) -> None:
    judged(text(kind, FEW - 1))  # compiles, imports and fills tables
    short, long = (calls(judged, text(kind, size)) for size in (FEW, TIMES * FEW))
    assert long <= SLACK * TIMES * short, f"{long / short:.1f} times the calls for {TIMES} times the text"


CALLS, MORE = 480, {"progress": 495, "access log": 740, "sbatch": 850, "launch lines": 935}
"""Calls for a line of a long text, and more where each line is a separate fact."""


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_a_line_costs_a_few_calls(kind: str) -> None:
    kinds_of.cache_clear()  # it remembers lines, as many as fit beside those of earlier texts
    judged(text(kind, MANY - 1))  # compiles, imports and fills tables
    made = calls(judged, text(kind, MANY)) / MANY
    assert made <= MORE.get(kind, CALLS), f"{made:.0f} calls a line"


READINGS, OFTENER, SEARCHES = 50, {"progress": 190, "diff": 90}, 2.5
"""How often a part of a long text may be read, and how often each line may be searched for one that was broken."""


@pytest.mark.parametrize("kind", KINDS)
def test_what_surrounds_a_long_text_is_found_in_a_sample_of_lines_that_are_read_a_few_times(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    searched: list[int] = []
    reader: Callable[..., Any] = one._read_lines
    guesses = unwrap.guesses

    def count(source: object, lines: Sequence[Line], *rest: object, **named: object) -> object:
        read.append(len(lines))
        return reader(source, lines, *rest, **named)

    def search(lines: Sequence[Line]) -> object:
        searched.append(len(lines))
        return guesses(lines)

    monkeypatch.setattr(one, "_read_lines", count)
    monkeypatch.setattr(unwrap, "guesses", search)
    judged(text(kind, MANY))
    assert len(read) <= OFTENER.get(kind, READINGS)
    assert sum(read) <= READ * MANY
    assert sum(searched) <= SEARCHES * MANY


def test_rows_of_a_table_are_not_read_as_what_a_person_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    reads = trials.Reader.read

    def count(reader: trials.Reader, sentence: str, *, is_item: bool = False) -> list[trials.Found]:
        asked.append(sentence)
        return reads(reader, sentence, is_item=is_item)

    monkeypatch.setattr(trials.Reader, "read", count)
    judged(text("sacct", MANY))
    assert len(asked) <= MANY / 20
    asked.clear()
    judged(f"{text('sacct', MANY)}It works with NCCL_P2P_DISABLE=1.\n")
    assert any("NCCL_P2P_DISABLE" in sentence for sentence in asked)


FORM = 1.1
"""How often the form of each line is found, whoever asks."""


@pytest.mark.parametrize("kind", ["key=value", "Markdown table", "SQL", "Spark log", "sentences"])
def test_the_form_of_a_line_is_found_once_for_all_who_ask_what_a_text_mentions(kind: str) -> None:
    lines = text(kind, 3 * MANY, failing=True).split("\n")
    facts = line_kinds.kind_of, line_kinds.is_sentence, line_kinds.is_printed
    for fact in facts:
        fact.cache_clear()
    kinds.mentioned(lines, (), dict.fromkeys(range(0, len(lines), 7), Failure("network", True, False)))
    found = [fact.cache_info().misses for fact in facts]
    assert max(found) <= FORM * len(lines)


TRIED = 6
"""How many alternatives of guarded patterns are tried for a line with a failure, by all who read the text."""


@pytest.mark.parametrize("kind", ["key=value", "Markdown table", "Spark log", "sentences", "diff", "sacct"])
def test_few_alternatives_of_patterns_are_tried_for_a_line(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    compiled = guarded._Guarded._compiled

    def count(guard: guarded._Guarded, at: int) -> re.Pattern[str]:
        tried.append(at)
        return compiled(guard, at)

    monkeypatch.setattr(guarded._Guarded, "_compiled", count)
    judged(text(kind, MANY, failing=True))
    assert len(tried) <= TRIED * MANY


def test_no_line_is_asked_for_a_trouble_where_the_whole_text_reports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    is_trouble = kinds._is_trouble

    def ask(line: str) -> bool:
        asked.append(line)
        return is_trouble(line)

    monkeypatch.setattr(kinds, "_is_trouble", ask)
    log = text("Spark log", MANY, failing=True)
    judged(log)
    assert not asked
    judged(f"{log}\nOur job hangs since today. Any ideas?\n")
    assert asked


SILENT = (
    "diff",
    "key=value",
    "HTML table",
    "Markdown table",
    "CSV",
    "SQL",
    "Spark log",
    "list of packages",
    "sentences",
)
"""Kinds whose lines begin no section."""
FED = 0.05
"""Share of the lines of such a text that are cut and parsed: the first sentences, and counters."""


@pytest.mark.parametrize("kind", SILENT)
def test_lines_without_information_are_not_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    feed, read = Cutter.feed, one._read_lines

    def count(cutter: Cutter, lines: Iterable[tuple[int, str]]) -> None:
        held = list(lines)
        fed.append(len(held) if cutter._keeps else 0)
        feed(cutter, held)

    def start(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        fed.clear()  # the last reading is that for the answer
        return read(*given, **named)

    monkeypatch.setattr(Cutter, "feed", count)
    monkeypatch.setattr(one, "_read_lines", start)
    judged(text(kind, MANY))
    assert sum(fed) <= FED * MANY


FAILURE = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system error"


@pytest.mark.parametrize("kind", SILENT)
def test_words_are_searched_in_lines_that_say_something(kind: str) -> None:
    half = text(kind, MANY // 2)
    (reading,) = read_all([TextSource.of_bytes("x", f"{half}{FAILURE}\n{half}".encode())]).readings
    assert len(reading.written) <= SHOWN + FED * MANY
    assert FAILURE in {span.text for span in reading.written}


@pytest.mark.parametrize("kind", ["CSV", "sacct", "list of packages"])
def test_nobody_asks_for_mentions_where_only_counters_are(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(lines: Sequence[str], named: Iterable[int], *_: object, **__: object) -> list[kinds.Mentioned]:
        assert not list(named)
        asked.append(len(lines))
        return []

    monkeypatch.setattr(kinds, "mentioned", ask)
    judged(text(kind, MANY))
    assert not asked
    judged(f"{text(kind, MANY)}{FAILURE}\n")
    assert asked


def test_failures_in_the_log_of_another_system_are_mentions() -> None:
    line = "Jun 15 02:04:59 combo sshd(pam_unix)[{}]: authentication failure; logname= uid=0 euid=0 tty=NODEVssh"
    log = "".join(f"{line.format(number)}\n" for number in range(100, 140))
    (reading,) = read_all([TextSource.of_bytes("x", log.encode())]).readings
    assert reading.mentioned
    assert not [found for found in reading.observations if found.entity == "Event"]
