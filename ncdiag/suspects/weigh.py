"""Score the suspects: the evidence for and against each, in steps of log-odds.

The score begins with the suspect's prior. Of the signs of one group, and of those that rest on the same line, only the
strongest counts; unknown signs count nothing. The scale is calibrated so that the words of `likelihood` are right on
support threads (`make cases` prints how often each was right).
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.errors import contained
from ncdiag.base.spans import Span
from ncdiag.engine import exclusion
from ncdiag.engine.closures import Test
from ncdiag.engine.compiling import program_of
from ncdiag.engine.phrases import read
from ncdiag.engine.resemblance import Index, resemblances
from ncdiag.engine.results import Reason, Verdict
from ncdiag.engine.schema import Rule, Sign, Strength
from ncdiag.engine.three_valued import Truth, both
from ncdiag.engine.walk import Context, Frame
from ncdiag.engine.where import spans
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.runs import seen_trials
from ncdiag.facts.vocabulary.told import cured_by, not_cured_by, set_in_vain
from ncdiag.formats.line_kinds import is_setting
from ncdiag.messages.vocabulary.phases import CARRYING, fails_at_meeting
from ncdiag.messages.vocabulary.seen import seen_complaints
from ncdiag.suspects import trials
from ncdiag.suspects.cells import Lit, cells_of
from ncdiag.suspects.wording import Wording

STRENGTHS: Mapping[Strength, float] = {"decisive": 3.0, "strong": 1.8, "moderate": 0.9, "weak": 0.4}
_LEAST: Strength = "weak"
PRIORS: Mapping[str, float] = {"common": 0.8, "uncommon": 0.4, "rare": 0.0}
_OTHER_TROUBLE = -0.8
"""Added to the score if the job has problems, but none that the suspect causes."""
_SAME_TROUBLE = 0.3
_PREMISE = Sign(text="its requirements are met, as far as the input shows", strength="weak")
"""The sign that a rule gives if it could not be judged, but its known conditions were true."""
_WORDS, _CELLS = "words", "cells"
"""Groups of signs: the input resembles the rule, or only names its parts; a failure lights a cell of the rule."""
USUAL = "usual"
"""The group of signs that say what is usual for such a symptom on such a machine, and no more."""
_LIGHT = STRENGTHS["moderate"]
_GUARDED = "it is harmless in a job such as this one"
_DIFFERS = frozenset({"troubled-host-differs", "troubled-host-differs-in-detail"})
_TOO_EARLY = Sign(text="it fails during the bootstrap, before NCCL connects GPUs", strength="strong", against=True)


class Judged(msgspec.Struct, frozen=True):
    """A judged sign. ``counts``: its part of the score; 0 if a stronger one has the same evidence."""

    sign: Sign
    truth: Truth
    evidence: tuple[Span, ...] = ()
    counts: float = 0.0


class Weighed(msgspec.Struct, frozen=True):
    """A suspect with its score, and all its judged signs."""

    rule: Rule
    score: float
    prior: float
    trouble: float
    signs: tuple[Judged, ...]

    cells: float = 0.0
    """The part of the score from lit cells: it sorts suspects, and does not make one likely."""

    @property
    def supporting(self) -> tuple[Judged, ...]:
        """The signs that count for it, strongest first."""
        return tuple(sorted((judged for judged in self.signs if judged.counts > 0), key=lambda j: -j.counts))

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """Source and number of the lines that count for it, except one that only shares words with the rule."""
        counting = (judged for judged in self.supporting if judged.sign.group != _WORDS)
        return frozenset((span.source, span.line) for judged in counting for span in judged.evidence)

    @property
    def firm(self) -> float:
        """The part of the score that does not rest on words or objects that the input shares with the rule.

        Rounded: what is left of the others by subtraction must not decide whether a limit of tenths is reached.
        """
        return round(self.score - sum(each.counts for each in self.signs if each.sign.group in {_WORDS, _CELLS}), 6)

    @property
    def only_resembles(self) -> bool:
        """True if the evidence for it is only its resemblance to the input, apart from weak signs."""
        return all(judged.sign.group == _WORDS or judged.sign.strength == "weak" for judged in self.supporting)

    @property
    def only_usual(self) -> bool:
        """True if the evidence for it is only what is usual for such a symptom on such a machine."""
        return all(judged.sign.group in {_WORDS, USUAL} for judged in self.supporting if judged.counts >= _LIGHT)

    @property
    def only_compared(self) -> bool:
        """True if the evidence for it is only a comparison: what works beside what does not may differ in more."""
        return all(judged.sign.group in {_WORDS, trials.GROUP} for judged in self.supporting if judged.counts >= _LIGHT)


class Scales:
    """Scores suspects for one input."""

    def __init__(
        self,
        view: View,
        wording: Wording,
        verdicts: Iterable[Verdict],
        answers: Mapping[str, bool] | None = None,
        texts: Index | None = None,
    ) -> None:
        """``texts`` is the index of the words of the rules; ``answers`` maps questions to answers.

        Trials are reported by a person, shown by runs of the input, or answered.

        The key of an answer is that of its question (`ncdiag.suspects.decide`): a sign's key, a trial's label, or the
        question of a suspect itself.
        """
        self._answers = answers or {}
        self._context = Context(view)
        self._view, self._wording = view, wording
        self._outcomes = {verdict.rule.code: verdict for verdict in verdicts}
        self._symptoms = {
            verdict.rule.name for verdict in self._outcomes.values()
            if verdict.rule.role == "symptom" and any(found.severity != "info" for found in verdict.findings)
        }  # fmt: skip
        self._says_why = any(
            verdict.rule.role == "symptom" and not verdict.rule.floor
            and any(found.severity != "info" for found in verdict.findings)
            for verdict in self._outcomes.values()
        )  # fmt: skip
        told = {found.what for found in view.job.complaints}
        self._trouble = frozenset(told or {found.what for found in seen_complaints(view.job, view)})
        self._cured = {*cured_by(view.job, view), *(key for key, answer in self._answers.items() if answer)}
        self._in_vain = {*not_cured_by(view.job, view), *(key for key, answer in self._answers.items() if not answer)}
        self._tried = _tried(view)
        self._resemblances = resemblances(texts, wording.lines()) if texts is not None else {}
        clear = {code for code, verdict in self._outcomes.items() if verdict.outcome == "clear"}
        self._apart: dict[str, list[Event]] = defaultdict(list)
        for event in view.job.events:
            for name in str(event.fields.get("judged_by", "")).split() if event.event in _DIFFERS else ():
                self._apart[name].append(event)
        self._scene = exclusion.Scene(view, wording.has_word, clear)
        self.excluded: list[tuple[Weighed, Reason]] = []
        self.faults: list[str] = []
        self.lit = self._lit()

    def _lit(self) -> Mapping[str, Lit]:
        """The lit cells by code of the rule; none if they cannot be read because of a bug of ncdiag."""
        try:
            return cells_of(self._view, self._wording, (verdict.rule for verdict in self._outcomes.values()))
        except Exception as error:  # noqa: BLE001  (other evidence still counts)
            self.faults.append(contained(error, "the cells of the input could not be read"))
            return {}

    @functools.cached_property
    def _offers(self) -> Mapping[str, int]:
        return trials.offered(verdict.rule for verdict in self._outcomes.values())

    @property
    def asked(self) -> bool:
        """True if somebody asks a question in the input, or writes in the first person."""
        return self._wording.asks()

    @property
    def is_written(self) -> bool:
        """True if a person wrote a part of the input."""
        return self._wording.is_written()

    def weigh(self, rules: Iterable[Rule]) -> list[Weighed]:
        """The suspects with evidence for them, most likely first; `excluded` then has those that a fact excludes."""
        found = [weighed for rule in rules if rule.suspect is not None and (weighed := self.one(rule)).supporting]
        found.sort(key=lambda weighed: (-weighed.score, weighed.rule.code))
        reasons = [(weighed, exclusion.excluded(weighed.rule, self._scene)) for weighed in found]
        self.excluded = [(weighed, reason) for weighed, reason in reasons if reason is not None]
        return [weighed for weighed, reason in reasons if reason is None]

    def one(self, rule: Rule) -> Weighed:
        """The score of one suspect; a sign that cannot be judged because of a bug of ncdiag is unknown."""
        suspect = rule.suspect
        own = (self._judged(rule, number) for number in range(len(rule.signs)))
        found = (
            self._of_verdict(rule), self._of_guards(rule), self._of_phase(rule), self._of_trials(rule),
            self._of_answer(rule), self._of_hosts(rule),
        )  # fmt: skip
        cells = list(self._of_cells(rule))
        judged = [*counted([*own, *itertools.chain.from_iterable(found)]), *self._of_words(rule), *cells]
        prior = PRIORS[suspect.prior] if suspect else 0.0
        trouble = 0.0
        if suspect and suspect.complaints and self._trouble:
            trouble = _SAME_TROUBLE if self._trouble & set(suspect.complaints) else _OTHER_TROUBLE
        score = prior + trouble + sum(each.counts for each in judged)
        return Weighed(rule, score, prior, trouble, tuple(judged), sum(each.counts for each in cells))

    def _of_verdict(self, rule: Rule) -> Iterable[Judged]:
        verdict = self._outcomes.get(rule.code)
        if verdict is not None and verdict.outcome == "unknown" and verdict.held_clauses:
            yield Judged(_PREMISE, truth=True)
        for name in rule.explains:
            if name in self._symptoms:
                yield Judged(Sign(text=f"it would explain {name}", strength="weak", group="explains"), truth=True)

    def _of_guards(self, rule: Rule) -> Iterable[Judged]:
        """Guards of the rule on the whole job that are true (it runs on one host): they count against it."""
        program = program_of(rule)
        for number in program.levels[0][1] if rule.unless else ():
            truth, lines = self._holds((program.guards[number],))
            if truth:
                sign = Sign(text=_GUARDED, strength="strong", against=True)
                yield Judged(sign, truth=True, evidence=tuple(lines))

    def _of_phase(self, rule: Rule) -> Iterable[Judged]:
        """Counts against a suspect in the data transport if the ranks failed to meet: it connects afterwards."""
        if rule.area in CARRYING and fails_at_meeting(self._view.job, self._view):
            yield Judged(_TOO_EARLY, truth=True)

    def _of_words(self, rule: Rule) -> Iterable[Judged]:
        """The resemblance of the input to the words of the rule. It rests on many lines, and is a matter of degree.

        Not counted if a question about the suspect was answered with no: then these words are about that.
        """
        found = self._resemblances.get(rule.code)
        if found is None or self._is_denied(rule):
            return
        strength = next((name for name, least in STRENGTHS.items() if found.counts >= least), _LEAST)
        text = f"the input mentions {', '.join(found.words)}"
        line = self._wording.most_of(found.words)
        evidence = (line,) if line else ()
        yield Judged(
            Sign(text=text, strength=strength, group=_WORDS), truth=True, evidence=evidence, counts=found.counts
        )

    def _of_cells(self, rule: Rule) -> Iterable[Judged]:
        """The cells of the rule that the input lights; their weight is a matter of degree.

        Not counted if a question about the suspect was answered with no: then these lines are about that.
        """
        lit = self.lit.get(rule.code)
        if lit is None or self._is_denied(rule):
            return
        strength = next((name for name, least in STRENGTHS.items() if lit.score >= least), _LEAST)
        sign = Sign(text=lit.sentence, strength=strength, group=_CELLS if lit.fails else _WORDS)
        yield Judged(sign, truth=True, evidence=(lit.line,) if lit.line else (), counts=lit.score)

    def _is_denied(self, rule: Rule) -> bool:
        if not self._answers:
            return False
        asked = [rule.suspect.ask if rule.suspect else "", *(key_of(rule, sign) for sign in rule.signs)]
        return any(self._answers.get(key) is False for key in asked)

    def _of_trials(self, rule: Rule) -> Iterable[Judged]:
        """The results of trying the rule's fixes."""
        if not self._cured and not self._in_vain:
            return
        for sign, label in trials.signs(rule, self._cured, self._in_vain, self._offers, says_why=self._says_why):
            lines = self._tried.get(label) or self._tried.get(label.partition("=")[0], ())
            yield Judged(sign, truth=True, evidence=lines)

    def _of_hosts(self, rule: Rule) -> Iterable[Judged]:
        """The host that the trouble follows differs from the others in what the rule judges."""
        for event in self._apart.get(rule.name, ()):
            text = f"the trouble follows {event.host}, where {event.fields['thing']} is {event.fields['value']}"
            yield Judged(Sign(text=text, strength="strong"), truth=True, evidence=tuple(event.provenance.values()))

    def _of_answer(self, rule: Rule) -> Iterable[Judged]:
        """The answer to the question of the suspect."""
        asked = rule.suspect.ask if rule.suspect else ""
        answer = self._answers.get(asked) if asked else None
        if answer is not None:
            text = f"{asked} {'Yes' if answer else 'No'}"
            yield Judged(Sign(text=text, strength="strong", against=not answer), truth=True)

    def _judged(self, rule: Rule, number: int) -> Judged:
        sign = rule.signs[number]
        if self._answers and (answer := self._answers.get(key_of(rule, sign))) is not None:
            return Judged(sign, answer)
        try:
            truth, evidence = self._truth(rule, number)
        except Exception as error:  # noqa: BLE001  (whatever a derived field raises)
            self.faults.append(contained(error, f"a sign of {rule.code} could not be evaluated"))
            return Judged(sign, None)
        if evidence and sign.says and not sign.when and all(is_setting(span.text) for span in evidence):
            sign = msgspec.structs.replace(sign, strength=_LEAST)  # that a variable is set is no word about a trouble
        return Judged(sign, truth, evidence)

    def _truth(self, rule: Rule, number: int) -> tuple[Truth, tuple[Span, ...]]:
        program = program_of(rule)
        said: list[Span] = []
        for phrases, heads in zip(program.sign_says[number], program.sign_heads[number], strict=True):
            if phrases:
                if not self._wording.has_any(heads):
                    return False, ()
                lines = self._wording.find(map(read, phrases))
                if not lines:
                    return False, ()
                said += lines
        truth, lines = self._holds(program.sign_tests[number])
        return truth, tuple(dict.fromkeys([*said, *lines])) if truth else ()

    def _holds(self, tests: Sequence[Test]) -> tuple[Truth, list[Span]]:
        """Whether all conditions on the job hold; if so, the lines that they rest on.

        They are evaluated without collecting evidence first, because few hold.
        """
        truth: Truth = True
        for test in tests:
            truth = both(truth, test(Frame(self._context, {})))
            if truth is False:
                return False, []
        reads: list[tuple[Any, str]] = []
        for test in tests if truth else ():
            test(Frame(self._context, {}, reads))
        return truth, spans((), reads, self._view)


def _tried(view: View) -> dict[str, tuple[Span, ...]]:
    """The lines of each trial (a variable with a value also under its name): runs in the input, then reported ones."""
    found: dict[str, tuple[Span, ...]] = {}
    shown = ((trial.change, trial.spans) for trial in seen_trials(view.job, view))
    told = ((trial.change, tuple(trial.provenance.values())) for trial in view.job.trials)
    for change, lines in (*shown, *told, *set_in_vain(view.job, view).items()):
        found.setdefault(change, lines)
        found.setdefault(change.partition("=")[0], lines)
    return found


def key_of(rule: Rule, sign: Sign) -> str:
    """The key of the question whether a sign is true."""
    return f"{rule.code}:{sign.text}"


def counted(signs: Iterable[Judged]) -> list[Judged]:
    """The signs with their part of the score: only the strongest of a group, and of those on the same lines, counts."""
    groups: set[tuple[bool, str]] = set()
    lines: set[tuple[bool, str, int]] = set()
    found: list[Judged] = []
    for each in sorted(signs, key=lambda judged: -STRENGTHS[judged.sign.strength]):
        sign = each.sign
        places = {(sign.against, span.source, span.line) for span in each.evidence}
        group = sign.against, sign.group
        counts = 0.0
        if each.truth and not (sign.group and group in groups) and not (places and places <= lines):
            counts = STRENGTHS[sign.strength] * (-1 if sign.against else 1)
            lines |= places
            groups.add(group)
        found.append(msgspec.structs.replace(each, counts=counts))
    return found
