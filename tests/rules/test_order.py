"""The order in which inputs are given changes no outcome of any rule: only lines of one source have an order."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from book import swept
from tenth import at_least, tenth

from ncdiag import catalogue
from ncdiag.base.spans import Span
from ncdiag.diagnose import view_of
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.schema import Example
from ncdiag.facts.merge import merge
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def outcomes(readings: Sequence[Reading]) -> dict[str, str]:
    return outcomes_of(job_of(readings))


def outcomes_of(job: Job) -> dict[str, str]:
    return {verdict.rule.name: verdict.outcome for verdict in judge_all(catalogue.rules(), view_of(job))}


def changed(readings: list[Reading]) -> set[str]:
    """The rules of which the outcome is another one with the readings reversed or rotated."""
    rotated = [readings[at:] + readings[:at] for at in range(1, len(readings))]
    orders = [readings[::-1], *rotated] if len(readings) > 2 else rotated  # two have but one other order
    job = job_of(readings)
    others = [other for other in map(job_of, orders) if other != job]  # an equal job has equal outcomes
    first = outcomes_of(job) if others else {}
    return {name for other in others for name, outcome in outcomes_of(other).items() if outcome != first[name]}


def read(name: str, content: bytes) -> Reading:
    return read_source(TextSource.of_bytes(name, content))


def parts(example: Example) -> list[Reading]:
    """The sections of an example, each as a source of its own."""
    heading = f"=== {example.host} ===\n" if example.host else ""
    texts = [text.strip("\n") for texts in example.sections.values() for text in texts]
    return [read(f"part {number}", f"{heading}{text}\n".encode()) for number, text in enumerate(texts)]


def folders(project: Path) -> Iterator[tuple[str, list[Reading]]]:
    """Fixtures of several files."""
    for folder in sorted([*(project / "fixtures" / "cases").iterdir(), *(project / "fixtures" / "healthy").iterdir()]):
        files = [path for path in sorted(folder.iterdir()) if path.suffix != ".toml"]
        if len(files) > 1:
            yield folder.name, [read(path.name, path.read_bytes()) for path in files]


@pytest.mark.sweep
def test_of_the_sections_of_an_example() -> None:
    examples = {
        f"{rule.name}: {example.name}": parts(example)
        for rule in swept(one_in=2) for example in rule.examples
    }  # fmt: skip
    several = {name: readings for name, readings in examples.items() if len(readings) > 1}
    assert len(several) >= at_least(100)
    found = {name: changed(readings) for name, readings in several.items()}
    assert {name: rules for name, rules in found.items() if rules} == {}


@pytest.mark.sweep
def test_of_the_files_of_a_case(project: Path) -> None:
    found = {name: changed(readings) for name, readings in tenth(folders(project), operator.itemgetter(0))}
    assert found
    assert {name: rules for name, rules in found.items() if rules} == {}


def test_an_outcome_that_changes_is_seen() -> None:
    """In one source the order of lines has a meaning: cut at another line, it is another story."""
    loss, fault = (
        b"n1:40:51 [0] NCCL WARN Net : Connection closed by remote peer\n",
        b"IndexError: list index out of range\n",
    )
    trace = (
        b'Traceback (most recent call last):\n  File "/srv/app/train.py", line 77, in <module>\n    return rows[i]\n'
    )
    before, after = outcomes([read("x", trace + fault + loss)]), outcomes([read("x", loss + trace + fault)])
    assert before["rank-crashed-first"] == "fired"
    assert after["rank-crashed-first"] != "fired"


def state(entity: str, key: tuple[str | int, ...], source: str, line: int, value: str) -> Observation:
    field = "operstate" if entity == "Interface" else "state"
    return Observation(entity=entity, key=key, host="a", fields={field: value}, span=Span(source, line))


def test_a_state_is_the_later_one_of_a_source_and_unknown_between_two() -> None:
    first, later = (state("Port", ("m", 1), "x", line, value) for line, value in ((1, "init"), (2, "active")))
    elsewhere = state("Port", ("m", 1), "y", 1, "init")
    assert merge([first, later]).hosts[0].hcas[0].ports[0].state == "active"
    for order in ([later, elsewhere], [elsewhere, later]):
        job = merge(order)
        assert job.hosts[0].hcas[0].ports[0].state is None
        assert [conflict.field for conflict in job.conflicts] == ["state"]


def test_a_rank_is_as_far_as_any_source_says() -> None:
    started, ready = (state("Rank", (7, 0), source, 1, source) for source in ("started", "ready"))
    assert [merge(order).ranks[0].state for order in ([started, ready], [ready, started])] == ["ready", "ready"]
