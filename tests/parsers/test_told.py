"""What people tell of their trials, told from what they ask, plan, wish, hear and deny: pairs of sentences."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from linear import assert_linear

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import broken_by, complains, cured_by, not_cured_by
from ncdiag.parsers import told
from ncdiag.parsers.told.contrast import Trial
from ncdiag.reading.job import facts_of
from ncdiag.spans import Section

PAIRS = [Path(__file__).parent / "told" / name for name in ("pairs.txt", "blind.txt")]
PRECISION, RECALL = 0.97, 0.95


def pairs() -> list[tuple[str, str, set[str]]]:
    """Sentences of the files: the part that they stand in, the text, and what it tells of that part."""
    found, part = [], ""
    for line in itertools.chain.from_iterable(path.read_text(encoding="utf-8").splitlines() for path in PAIRS):
        if line.startswith("## "):
            part = line[3:].partition(":")[0]
        elif "=>" in line and not line.startswith("#"):
            text, _, told = line.rpartition("=>")
            facts = told.split("context:")[1:] if part == "context" else told.split()
            found.append((part, text.strip().replace("|", "\n"), {fact.strip() for fact in facts}))
    return found


def told_by(part: str, text: str) -> set[str]:
    job = facts_of({"text": [f"{text}\n"]})
    if part == "context":
        return {context.value for context in job.contexts}
    if part == "wants":
        return {f"want:{want.what}" for want in job.wishes}
    if part == "complaints":
        return {f"{c.what}{f'@{c.phase}' if c.phase else ''}{f'/{c.scope}' if c.scope else ''}" for c in job.complaints}
    return {f"{trial.outcome}:{trial.change}" for trial in told.tell(text)}


def test_pairs() -> None:
    right, extra, missing = 0, [], []
    for part, text, facts in pairs():
        found = told_by(part, text)
        right += len(found & facts)
        extra += [(text, fact) for fact in found - facts]
        missing += [(text, fact) for fact in facts - found]
    assert right > 300
    assert right >= PRECISION * (right + len(extra)), extra
    assert right >= RECALL * (right + len(missing)), missing


def test_what_is_told_becomes_facts_of_the_job() -> None:
    text = """Our training hangs after init.
NCCL_P2P_DISABLE=1 works.
We tried NCCL_IB_DISABLE=1, no luck.
It works with docker stopped? Should I set NCCL_SHM_DISABLE=1?
-g 2 works, -g 4 hangs
"""
    job = facts_of({"text": [text]})
    view = View(job)
    assert complains(job, view) == ("hangs",)
    assert cured_by(job, view) == ("NCCL_P2P_DISABLE=1", "NCCL_P2P_DISABLE", "fewer-gpus")
    assert not_cured_by(job, view) == ("NCCL_IB_DISABLE=1", "NCCL_IB_DISABLE")
    assert broken_by(job, view) == ("more-gpus",)


def test_what_is_told_both_ways_is_told_neither_way() -> None:
    job = facts_of({"text": ["NCCL_P2P_DISABLE=1 works.\nNCCL_P2P_DISABLE=1 did not help.\n"]})
    view = View(job)
    assert (cured_by(job, view), not_cured_by(job, view)) == ((), ())


@pytest.mark.parametrize("outcome", ["hangs", "crashes"])
def test_a_failure_alone_is_no_trial(outcome: str) -> None:
    assert told.tell(f"With NCCL_ALGO=Tree it {outcome}.") == []
    found = told.tell(f"With NCCL_ALGO=Tree it {outcome}.\nWith NCCL_ALGO=Ring it works.")
    assert found == [Trial("NCCL_ALGO=Tree", "fails", 0), Trial("NCCL_ALGO=Ring", "works", 1)]


def prose(size: int) -> list[Section]:
    line = "With NCCL_P2P_DISABLE=1 on two nodes it works but it still hangs without, and so on ({})."
    return [Section(kind="text", source="x", first_line=1, lines=tuple(line.format(i) for i in range(size)))]


def test_books_are_read_in_passing() -> None:
    assert_linear(told.read, prose, 1000)
    assert told.read(prose(1000)) == []


@pytest.mark.parametrize("part", ["with ", "the same ", "NCCL_", "a " * 3 + "no ", "if I set ", "does not "])
def test_hostile_lines_take_no_longer(part: str) -> None:
    assert_linear(told.tell, lambda size: part * size, 100)
