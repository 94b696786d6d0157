"""The order of the answers: one sum of named terms for each candidate, which is a finding or a suspect.

The values are in steps of log-odds, like the weights of signs (`ncdiag.suspects.weigh`), set by hand and rounded. They
are counted on real support threads, wins and losses (`make cases`); no fitted weights are used. Equal sums are decided
by time, layer and code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ncdiag.base.severity import Confidence
from ncdiag.base.spans import Span
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures

_MOST_SIGNS, _OF_FINDING = 4.0, 0.5
"""Maximum score of a finding's signs, and the share that counts: what conditions prove needs few further signs."""

_USUAL_SIGNS = 1.0
"""The score of a finding whose rule has no signs: that of a usual finding."""

_OF_A_MESSAGE = 1
"""Lines after the first failing one that may be of the same message (perftest prints the status below it)."""
GUESS = -0.8
_STEP = 0.1
_PROOFS: Mapping[Confidence, float] = {"certain": 1.8, "likely": 1.3, "possible": 1.2}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A possible answer. ``score``: of the signs of its rule; ``finding``: None for a suspect.

    ``evidence``: the lines on which it rests. ``is_guess``: only weak signs or words that it shares with the input.
    """

    rule: Rule
    score: float = 0.0
    finding: Finding | None = None
    evidence: tuple[Span, ...] = ()
    is_guess: bool = False


class Basis(msgspec.Struct, frozen=True):
    """What the terms compare a candidate with.

    ``first``: source and line of the first failure that counts; ``is_first_found``: True if a finding that is not an
    echo has it as evidence; ``explained``: names of the rules that a finding's rule explains, wherever; ``proved``:
    names of the rules that found a cause which is an error and certain or likely.
    """

    first: tuple[str, int] | None = None
    is_first_found: bool = False
    explained: frozenset[str] = frozenset()
    proved: frozenset[str] = frozenset()


def basis(findings: Iterable[Finding], view: View) -> Basis:
    """The basis of the order of these findings, and of the suspects beside them."""
    lines = (event.provenance.get("") for event in open_failures(view.job, view))
    first = min(((span.source, span.line) for span in lines if span is not None), default=None)
    held = list(findings)
    current = {name: found.rule.name for found in held for name in (found.rule.name, *found.rule.formerly)}
    explained = {
        current[name] for found in held for name in found.rule.explains
        if current.get(name, found.rule.name) != found.rule.name
    }  # fmt: skip
    is_first_found = any(
        not (found.rule.echo or (found.rule.floor and found.explained_by)) and _rests_on(first, found.evidence)
        for found in held
    )
    proved = frozenset(
        found.rule.name for found in held
        if found.role == "cause" and found.severity == "error" and found.confidence != "possible"
    )  # fmt: skip
    return Basis(first, is_first_found, frozenset(explained), proved)


def _rests_on(place: tuple[str, int] | None, evidence: Iterable[Span]) -> bool:
    return place is not None and any((span.source, span.line) == place for span in evidence)


def _signs(of: Candidate, _: Basis) -> float:
    """The score of the signs of its rule; for a finding at most `_MOST_SIGNS`, and `_USUAL_SIGNS` if it has none."""
    if of.finding is None:
        return of.score
    return _OF_FINDING * max(0.0, min(of.score, _MOST_SIGNS)) if of.rule.suspect is not None else _USUAL_SIGNS


def _proof(of: Candidate, _: Basis) -> float:
    """Its conditions are true; more if they prove it, less if they only make it possible."""
    if of.finding is None:
        return 0.0
    if of.finding.role != "cause":
        return 1.3
    return _PROOFS[of.finding.confidence]


def _role(of: Candidate, _: Basis) -> float:
    """A cause comes before a symptom, a symptom before a risk, and a note last."""
    if of.finding is None:
        return 0.0
    if of.finding.severity == "info":
        return -2.0
    return {"cause": 3.0, "symptom": 1.8, "risk": 0.6}[of.finding.role]


def _warning(of: Candidate, _: Basis) -> float:
    """A warning is less likely to be what stopped the job than an error."""
    return -0.4 if of.finding is not None and of.finding.severity == "warning" else 0.0


def _first(of: Candidate, basis: Basis) -> float:
    """It rests on the first line that reports a failure."""
    return 0.4 if _rests_on(basis.first, of.evidence) else 0.0


def _explains(of: Candidate, basis: Basis) -> float:
    """It explains another finding; more if that one is a proved cause, above which it has to rank."""
    if of.finding is None or not of.finding.consequences:
        return 0.0
    return 1.7 if basis.proved & set(of.finding.consequences) else 0.5


def _explained(of: Candidate, basis: Basis) -> float:
    """Another finding explains it; less if that finding's place does not match."""
    if of.finding is None:
        return 0.0
    if of.finding.explained_by:
        return -3.5
    return -2.0 if of.rule.name in basis.explained else 0.0


def _floor(of: Candidate, _: Basis) -> float:
    """It reports a failure that no specific rule knows."""
    return -2.0 if of.finding is not None and of.rule.floor else 0.0


def _echo(of: Candidate, basis: Basis) -> float:
    """It only shows that another process or an earlier call failed. Less if a finding reports that failure."""
    if of.finding is None or not of.rule.echo:
        return 0.0
    first = basis.first
    at_first = first and all(e.source == first[0] and 0 <= e.line - first[1] <= _OF_A_MESSAGE for e in of.evidence)
    return -4.2 if basis.is_first_found and not (at_first or _rests_on(first, of.evidence)) else -1.8


def _vague(of: Candidate, _: Basis) -> float:
    """Its line says that something failed, not what; an echo has its own term."""
    return -1.8 if of.finding is not None and of.finding.vague and not of.rule.echo else 0.0


def _guess(of: Candidate, _: Basis) -> float:
    """Only weak signs, or words that it shares with the input, speak for it."""
    return GUESS if of.is_guess else 0.0


TERMS: Mapping[str, Callable[[Candidate, Basis], float]] = {
    "signs": _signs, "proof": _proof, "role": _role, "warning": _warning, "first failing line": _first,
    "explains": _explains, "explained": _explained, "floor": _floor, "echo": _echo, "vague": _vague, "guess": _guess,
}  # fmt: skip
"""The terms of the sum by their names."""


def terms(of: Candidate, basis: Basis) -> dict[str, float]:
    """The terms of a candidate that are not zero."""
    return {name: value for name, term in TERMS.items() if (value := term(of, basis))}


def total(of: Candidate, basis: Basis) -> float:
    """The sum of its terms."""
    return sum(term(of, basis) for term in TERMS.values())


def candidates(findings: Sequence[Finding], scores: Mapping[str, float] | None = None) -> list[Candidate]:
    """The findings as candidates; ``scores`` of the signs by code of the rule."""
    known = scores or {}
    return [
        Candidate(rule=found.rule, score=known.get(found.rule.code, 0.0), finding=found, evidence=found.evidence)
        for found in findings
    ]


def ranked(held: Iterable[Candidate], basis: Basis) -> list[tuple[Candidate, float]]:
    """The candidates with their sums, the most likely answer first; equal ones keep their order.

    A finding never comes before all those that explain it, nor a suspect before a cause that was found and whose rule
    explains that of the suspect, or that was proved by the same lines.
    """
    held = list(held)
    summed = [(each, total(each, basis)) for each in held]
    best: dict[str, float] = {}
    for each, value in summed:
        if each.finding is not None:
            best[each.rule.name] = max(value, best.get(each.rule.name, value))
    makes: dict[str, list[str]] = defaultdict(list)
    for each in held:
        if each.finding is not None and each.rule.role == "cause" and each.finding.severity != "info":
            for name in each.rule.explains:
                makes[name].append(each.rule.name)
    lead = max((pair for pair in summed if pair[0].finding is not None), key=lambda pair: pair[1], default=None)
    limited = (
        (each, min(_below_its_cause(each, value, best, makes), _below_the_same_lines(each, value, lead, basis)))
        for each, value in summed
    )
    return sorted(limited, key=lambda pair: -pair[1])


def _below_the_same_lines(of: Candidate, value: float, lead: tuple[Candidate, float] | None, basis: Basis) -> float:
    """The sum, for a suspect less than that of the first finding, if this is a proved cause with all of its lines.

    Conditions that are true of a line say more than words in it.
    """
    if lead is None or lead[0].rule.name not in basis.proved or of.finding is not None or not of.evidence:
        return value
    return min(value, lead[1] - _STEP) if set(of.evidence) <= set(lead[0].evidence) else value


def _below_its_cause(
    of: Candidate, value: float, best: Mapping[str, float], makes: Mapping[str, Sequence[str]]
) -> float:
    """The sum, at most a little less than the highest of the findings that explain it.

    ``makes``: by the name of a rule, those of the causes found whose rules explain it.
    """
    names = of.finding.explained_by if of.finding is not None else makes.get(of.rule.name, ())
    causes = [best[name] for name in names if name in best]
    return min(value, max(causes) - _STEP) if causes else value
