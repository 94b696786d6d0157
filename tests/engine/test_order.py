"""The order of the answers: each term of the sum, and what decides between equal sums."""

from __future__ import annotations

import msgspec
import pytest

from ncdiag.base.spans import Span
from ncdiag.engine.order import TERMS, Basis, Candidate, basis, candidates, ranked, terms, total
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule, Suspect
from ncdiag.engine.where import Where
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

RULE = Rule(
    code="NCD1", name="one", area="ib", severity="error", role="cause", title="", why="", suspect=Suspect(text="one")
)
CAUSE = Finding(
    rule=RULE, severity="error", role="cause", layer=50, title="one", why="", confidence="certain",
    where=Where.nowhere(), evidence=(Span("log", 3, "it failed"),), instances=({},), count=1,
)  # fmt: skip


def finding(**fields: object) -> Finding:
    of = {key: value for key, value in fields.items() if key in {"floor", "echo", "explains", "name", "code"}}
    rest = {key: value for key, value in fields.items() if key not in of}
    return msgspec.structs.replace(CAUSE, rule=msgspec.structs.replace(RULE, **of), **rest)


def of(found: Finding, score: float = 1.0, on: Basis | None = None) -> dict[str, float]:
    (held,) = candidates([found], {found.rule.code: score})
    return terms(held, on or Basis())


def test_a_suspect_is_worth_the_score_of_its_signs() -> None:
    assert terms(Candidate(rule=RULE, score=2.5), Basis()) == {"signs": 2.5}
    assert total(Candidate(rule=RULE, score=2.5), Basis()) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("better", "worse", "term"),
    [
        ({}, {"confidence": "possible"}, "proof"),
        ({"confidence": "likely"}, {"role": "symptom", "confidence": "likely"}, "role"),
        ({"role": "symptom"}, {"role": "risk"}, "role"),
        ({"role": "risk"}, {"role": "risk", "severity": "info"}, "role"),
        ({}, {"severity": "warning"}, "warning"),
        ({"consequences": ("other",)}, {}, "explains"),
        ({}, {"explained_by": ("other",)}, "explained"),
        ({}, {"floor": True}, "floor"),
        ({}, {"echo": True}, "echo"),
        ({}, {"vague": True}, "vague"),
    ],
)
def test_each_term_counts(better: dict[str, object], worse: dict[str, object], term: str) -> None:
    high, low = of(finding(**better)), of(finding(**worse))
    assert high.get(term, 0.0) > low.get(term, 0.0)
    assert {key: value for key, value in high.items() if key != term} == {
        key: value for key, value in low.items() if key != term
    }


def test_a_guess_is_worth_less_than_its_score() -> None:
    assert total(Candidate(rule=RULE, score=2.0, is_guess=True), Basis()) < 2.0


def test_the_first_failing_line_counts_for_findings_and_suspects() -> None:
    failed = Event(event="x", origin="program", kind="cause", provenance={"": CAUSE.evidence[0]})
    on = basis([], View(Job(events=(failed,))))
    assert of(CAUSE, on=on)["first failing line"] > 0
    assert terms(Candidate(rule=RULE, evidence=CAUSE.evidence), on)["first failing line"] > 0
    assert "first failing line" not in terms(Candidate(rule=RULE), on)


def test_a_symptom_that_a_finding_of_another_place_would_explain_counts_less() -> None:
    symptom = finding(role="symptom", name="timeout")
    cause = finding(explains=("timeout",), name="cable")
    on = basis([symptom, cause], View(Job()))
    assert -3.5 < of(symptom, on=on)["explained"] < 0
    assert "explained" not in of(cause, on=on)


def test_an_echo_at_the_first_failure_is_not_pushed_back_by_the_finding_that_it_explains() -> None:
    failed = Event(event="x", origin="program", kind="cause", provenance={"": CAUSE.evidence[0]})
    later = (Span("log", 90, "and so did others"),)
    echo = finding(role="symptom", echo=True, name="echo", code="NCD2", evidence=later)
    floor = finding(floor=True, name="floor", code="NCD3")
    view = View(Job(events=(failed,)))
    known = msgspec.structs.replace(floor, explained_by=("echo",))
    assert of(echo, on=basis([echo, floor], view))["echo"] < of(echo, on=basis([echo, known], view))["echo"]


def test_signs_of_a_finding_have_a_limit_and_a_default() -> None:
    assert of(CAUSE, 50.0)["signs"] == of(CAUSE, 6.0)["signs"]
    assert "signs" not in of(CAUSE, -3.0)
    bare = msgspec.structs.replace(CAUSE, rule=msgspec.structs.replace(RULE, suspect=None))
    assert of(bare)["signs"] > 0


def test_equal_sums_keep_the_order_of_time_and_layer() -> None:
    first, second = finding(name="first", code="NCD2"), finding(name="second")
    assert [each.rule.name for each, _ in ranked(candidates([first, second]), Basis())] == ["first", "second"]


def test_a_finding_comes_after_what_explains_it_whatever_its_signs() -> None:
    loud = finding(name="loud", code="NCD2", explained_by=("quiet",))
    quiet = finding(name="quiet", code="NCD3", severity="warning")
    held = candidates([loud, quiet], {"NCD2": 6.0, "NCD3": 0.0})
    assert [each.rule.name for each, _ in ranked(held, Basis())] == ["quiet", "loud"]


@pytest.mark.parametrize(("line", "order"), [(3, ["proved", "suspect"]), (4, ["suspect", "proved"])])
def test_a_suspect_with_no_other_lines_comes_after_the_cause_that_they_prove(line: int, order: list[str]) -> None:
    proved = finding(name="proved", code="NCD2")
    rule = msgspec.structs.replace(RULE, name="suspect", code="NCD3")
    suspect = Candidate(rule=rule, score=9.0, evidence=(Span("log", line, "it failed"),))
    held = [*candidates([proved], {"NCD2": 0.0}), suspect]
    assert [each.rule.name for each, _ in ranked(held, Basis(proved=frozenset({"proved"})))] == order


def test_every_term_says_what_it_is() -> None:
    assert all(term.__doc__ for term in TERMS.values())
