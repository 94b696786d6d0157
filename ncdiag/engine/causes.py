"""Root cause first: which finding explains which, their order in the report, and what input would settle the rest.

Edges are the rules' ``explains``, and from every error to findings that only echo an error. An edge holds if cause and
symptom share a place (`Where.touches`); across hosts it holds if the symptom is remote: its event names a peer, or one
of the two rules says that its effect reaches the job. The peer must then be unknown or one of the cause's hosts. A
cause that costs a part of the bandwidth does not explain a benchmark that lost more (``leaves``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.severity import CONFIDENCES, SEVERITIES
from ncdiag.engine.adjustment import Standing
from ncdiag.engine.exclusion import excluded_findings
from ncdiag.engine.folding import Floor
from ncdiag.engine.order import basis, candidates, ranked
from ncdiag.engine.peers import Peers
from ncdiag.engine.results import Diagnosis, Finding, Unknown, Verdict, Word
from ncdiag.engine.schema import Ask, Rule
from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import clock_offsets, clock_skew
from ncdiag.facts.vocabulary.link_tests import fraction_of_tested
from ncdiag.messages.vocabulary.seen import seen_complaints
from ncdiag.nccl.vocabulary.limits import fraction_of_limit

MAX_ASKS = 3
"""Maximum number of outputs that a report requests: a longer list is not read."""

_DEFAULT_SKEW = 2.0
"""Seconds by which the clocks of two hosts may differ if nothing is known about them (NTP keeps them closer)."""
_RESOLUTION = 1.0
"""Resolution of time stamps in seconds: the uncertainty between clocks whose difference is known."""

Edges = dict[int, set[int]]


def conclude(verdicts: Iterable[Verdict], view: View, *, understood: bool = True) -> Diagnosis:
    """Sort the findings of all verdicts, link causes and consequences, and list the inputs worth requesting.

    ``understood`` False means that no input was understood, so the absence of findings means nothing.
    """
    held = list(verdicts)
    standing = Standing(view)
    findings = [standing.first(finding) for verdict in held for finding in verdict.findings]
    findings = _Order(findings, view, standing, [verdict.rule for verdict in held]).told()
    ordered = [each.finding for each, _ in ranked(candidates(findings), basis(findings, view)) if each.finding]
    return Diagnosis(
        verdict=overall(ordered, view, understood=understood),
        root_cause=root_cause(ordered),
        findings=tuple(ordered),
        unknown=shortlist(held, findings),
        answers=tuple(dict.fromkeys(found.rule.name for found in ordered)),
        excluded=excluded_findings(findings, view),
        faults=tuple(verdict.fault for verdict in held if verdict.fault),
    )


def without_mentioned(diagnosis: Diagnosis, places: Collection[tuple[str, int]]) -> Diagnosis:
    """The diagnosis without causes and symptoms whose whole evidence is in lines that only mention what they name."""
    if not places:
        return diagnosis

    def is_claimed(found: Finding) -> bool:
        if found.role == "risk" or found.severity == "info" or not found.evidence:
            return True
        return any((span.source, span.line) not in places for span in found.evidence)

    findings = tuple(filter(is_claimed, diagnosis.findings))
    answers = tuple(dict.fromkeys(found.rule.name for found in findings))
    return msgspec.structs.replace(diagnosis, findings=findings, root_cause=root_cause(findings), answers=answers)


def root_cause(findings: Sequence[Finding]) -> str | None:
    """The name of the first finding if it is a cause."""
    lead = findings[0] if findings else None
    return lead.rule.name if lead is not None and lead.severity != "info" and lead.role == "cause" else None


def overall(findings: Sequence[Finding], view: View, *, understood: bool, suspected: bool = False) -> Word:
    """The overall verdict: from the first finding, else from observed failures and the person's complaint.

    ``suspected``: a suspect precedes all findings, so that none of them is the root cause.
    """
    lead = findings[0] if findings and findings[0].severity != "info" else None
    if lead is not None and suspected:
        failed = any(found.severity != "info" and found.role != "risk" for found in findings)
        if failed:
            return "failed-cause-not-here"
    elif lead is not None and lead.role != "risk":
        return "root-cause" if lead.role == "cause" else "failed-cause-not-here"
    if seen_complaints(view.job, view):
        return "failed-cause-not-here"
    if view.job.complaints:
        return "complaint-nothing-seen"
    if lead is not None:
        return "risk-only"
    return "healthy-as-far-as-seen" if understood or findings else "nothing-understood"


class _Order:
    """Determines the order of findings, which are identified by their index."""

    def __init__(self, findings: list[Finding], view: View, standing: Standing, rules: Sequence[Rule]) -> None:
        self.findings = findings
        self.view = view
        self.floor = Floor(findings, rules, view)
        self.peers = Peers(view.job)
        self.named = _aliases(finding.rule for finding in findings)
        self.periods = _periods(findings, view)
        self.edges = self._acyclic(self._edges())
        self.reached = {index: _reachable(self.edges, index) for index in range(len(findings))}
        self.findings = [standing.last(finding, self._explicable(index)) for index, finding in enumerate(findings)]

    def told(self) -> list[Finding]:
        """The findings with their edges, in the order in which a report shows them if no signs are known."""
        incoming: dict[int, list[int]] = defaultdict(list)
        for cause, symptoms in self.edges.items():
            for symptom in symptoms:
                incoming[symptom].append(cause)
        order = sorted(range(len(self.findings)), key=self._plain_key)
        return [
            msgspec.structs.replace(
                self.findings[i],
                explained_by=self._names(incoming[i]),
                consequences=self._names(self.reached[i]),
            )
            for i in order
        ]

    def _names(self, indices: Iterable[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.findings[i].rule.name for i in sorted(indices, key=self._plain_key)))

    def _explicable(self, index: int) -> list[Finding]:
        """The findings that this one explains, and those that its rule would explain if they were in the same place."""
        names = {self.named.get(name) for name in self.findings[index].rule.explains}
        return [
            found for other, found in enumerate(self.findings)
            if other != index and (other in self.reached[index] or found.rule.name in names)
            and not self._costs_too_little(self.findings[index], found)
        ]  # fmt: skip

    def _plain_key(self, index: int) -> tuple[Any, ...]:
        """Sort key: earliest time, lower layer, strength of proof; the rest makes the order deterministic."""
        finding = self.findings[index]
        rule, where = finding.rule, finding.where
        strength = CONFIDENCES.index(rule.strength)
        return self.periods[index], finding.layer, strength, rule.code, where.order or 0, finding.title

    def _edges(self) -> Edges:
        by_name: dict[str, list[int]] = defaultdict(list)
        for index, finding in enumerate(self.findings):
            by_name[finding.rule.name].append(index)
        edges: Edges = defaultdict(set)
        echoes = {finding.rule.name for finding in self.findings if finding.rule.echo}
        for index, cause in enumerate(self.findings):
            names = {self.named.get(name, "") for name in cause.rule.explains} - {cause.rule.name}
            if cause.role == "cause" and cause.severity == "error":
                names |= echoes
            for name in names:
                others = (i for i in by_name.get(name, ()) if i != index)
                edges[index] |= {i for i in others if self._holds(cause, self.findings[i])}
            edges[index] |= {
                i for i in self.floor.explained(cause)
                if self.floor.anywhere(cause, self.findings[i]) or self._holds(cause, self.findings[i])
            }  # fmt: skip
        return edges

    def _holds(self, cause: Finding, symptom: Finding) -> bool:
        if cause.severity == "info" and symptom.severity != "info":
            return False  # a minor finding explains nothing that is worse than itself
        if self._costs_too_little(cause, symptom):
            return False
        if cause.where.touches(symptom.where):
            return True
        peers = symptom.where.peers
        if not peers and "job" not in (cause.rule.effect, symptom.rule.effect):
            return False
        hosts = [self.peers.host(peer) for peer in peers]
        return not hosts or any(host is None or host in cause.where.hosts for host in hosts)

    def _costs_too_little(self, cause: Finding, symptom: Finding) -> bool:
        """True if a benchmark lost more than the fault can cost: if it is slower by a factor of 100, say."""
        if not cause.rule.leaves:
            return False
        runs = (entity for names in symptom.instances for entity in names.values() if isinstance(entity, Benchmark))
        shares = [share for run in runs if (share := _share_reached(run, self.view)) is not None]
        return bool(shares) and max(shares) < cause.rule.leaves

    def _acyclic(self, edges: Edges) -> Edges:
        """Break cycles of rules that explain each other: the one that sorts first explains the other."""
        reached = {index: _reachable(edges, index) for index in edges}
        rank = {i: n for n, i in enumerate(sorted(range(len(self.findings)), key=self._cycle_key))}
        return {
            cause: {s for s in symptoms if cause not in reached.get(s, ()) or rank[cause] < rank[s]}
            for cause, symptoms in edges.items()
        }

    def _cycle_key(self, index: int) -> tuple[Any, ...]:
        return self.findings[index].role != "cause", *self._plain_key(index)


def _reachable(edges: Edges, start: int) -> set[int]:
    found: set[int] = set()
    ahead = list(edges.get(start, ()))
    while ahead:
        index = ahead.pop()
        if index not in found:
            found.add(index)
            ahead += edges.get(index, ())
    return found - {start}


def _share_reached(run: Benchmark, view: View) -> float | None:
    """The share reached of the bandwidth that the links allow, or of an earlier test of them.

    None if neither is known.
    """
    shares = (fraction_of_limit(run, view), fraction_of_tested(run, view))
    return min((share for share in shares if share is not None), default=None)


def _aliases(rules: Iterable[Rule]) -> dict[str, str]:
    """The present name of each rule by all present and former names."""
    return {name: rule.name for rule in rules for name in (rule.name, *rule.formerly)}


def _periods(findings: Sequence[Finding], view: View) -> list[int]:
    """The earliest times as small integers, equal for times that unsynchronised clocks cannot distinguish.

    Known clock differences are corrected first. A finding without a time is a property of the host that existed before
    the job began.
    """
    offsets = clock_offsets(view.job, view) or {}
    hosts = {host for finding in findings for host in finding.where.hosts}
    shared = [_shared_time(finding, offsets) for finding in findings]
    tolerance = 0.0
    if len(hosts) > 1:
        tolerance = _RESOLUTION if hosts <= offsets.keys() else _skew(view)
    periods: dict[float, int] = {}
    begin, number = float("-inf"), 0
    for time in sorted({time for time in shared if time is not None}):
        if time - begin > tolerance:
            begin, number = time, number + 1
        periods[time] = number
    return [periods[time] if time is not None else 0 for time in shared]


def _shared_time(finding: Finding, offsets: Mapping[str, float]) -> float | None:
    """The time of a finding by the median host's clock; as printed if it has several hosts or the clock is unknown."""
    where = finding.where
    if where.time is None or len(where.hosts) != 1:
        return where.time
    return where.time - offsets.get(next(iter(where.hosts)), 0.0)


def _skew(view: View) -> float:
    """The maximum difference of the hosts' clocks in seconds: the derived fact if known."""
    found = clock_skew(view.job, view)
    return float(found) if found is not None else _DEFAULT_SKEW


def shortlist(verdicts: Iterable[Verdict], findings: Sequence[Finding]) -> tuple[Unknown, ...]:
    """The rules that could not be judged and matter: they would explain an unsolved symptom, or their premise is true.

    A true premise counts if there is no symptom, or one that the rule explains: a job that hangs is not asked about its
    speed.

    At most `MAX_ASKS` different outputs are requested, first those that would decide most of the open causes. Rules
    that name no output come last, at most as many, and only if they would explain a symptom.
    """
    unsolved = [f for f in findings if f.role == "symptom" and f.severity != "info" and not f.explained_by]
    symptoms = {name for f in unsolved for name in (f.rule.name, *f.rule.formerly)}
    unknown = [verdict for verdict in verdicts if verdict.outcome == "unknown"]
    explaining = {verdict.rule.name: bool(symptoms & set(verdict.rule.explains)) for verdict in unknown}
    seen = {name for f in findings if f.role == "symptom" for name in (f.rule.name, *f.rule.formerly)}
    opened = [
        verdict
        for verdict in unknown
        if explaining[verdict.rule.name]
        or (_premise_holds(verdict) and (not seen or not verdict.rule.explains or seen & set(verdict.rule.explains)))
    ]
    weights = _ask_weights(opened, explaining)
    asks = sorted(weights, key=lambda ask: (weights[ask], ask))[:MAX_ASKS]
    opened.sort(key=lambda v: (not explaining[v.rule.name], SEVERITIES.index(v.rule.severity), v.rule.code))
    asked = [_unknown(v, asks) for v in opened if any(ask.ask_for in asks for ask in _useful_asks(v))]
    mute = [v for v in opened if not v.rule.asks and explaining[v.rule.name]]
    return tuple(asked + [_unknown(v, ()) for v in mute[:MAX_ASKS]])


def _premise_holds(verdict: Verdict) -> bool:
    """True if the first condition is true. It says what the rule is about: a provider, a network, a setting."""
    return verdict.rule.when[:1] == verdict.held_clauses[:1] != ()


def _ask_weights(opened: Iterable[Verdict], explaining: Mapping[str, bool]) -> dict[str, tuple[int, int]]:
    """For each output, minus the number of open causes that it would decide: those that explain a symptom, and all."""
    weights: dict[str, tuple[int, int]] = {}
    for verdict in opened:
        for ask_for in dict.fromkeys(ask.ask_for for ask in _useful_asks(verdict)):
            explain, every = weights.get(ask_for, (0, 0))
            is_cause = verdict.rule.role == "cause"
            weights[ask_for] = explain - (is_cause and explaining[verdict.rule.name]), every - is_cause
    return weights


def _useful_asks(verdict: Verdict) -> list[Ask]:
    """The asks of a rule that concern an unknown condition."""
    places = [*verdict.open_clauses, *verdict.missing]
    return [ask for ask in verdict.rule.asks if not ask.about or any(ask.about in place for place in places)]


def _unknown(verdict: Verdict, asks: Iterable[str]) -> Unknown:
    rule = verdict.rule
    wanted = [ask for ask in _useful_asks(verdict) if ask.ask_for in asks]
    missing = [ask.missing for ask in wanted] or [*verdict.needs, *verdict.open_clauses]
    return Unknown(rule.code, rule.name, tuple(dict.fromkeys(missing)), tuple(dict.fromkeys(a.ask_for for a in wanted)))
