"""Test rules on their own examples: the problems that `ncdiag rules test` and the project's tests report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar, get_args

import msgspec

from ncdiag.base.errors import suggestion
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.compiling import program_of
from ncdiag.engine.evaluate import judge, trace
from ncdiag.engine.fallback import cited
from ncdiag.engine.program import completed
from ncdiag.engine.schema import Example, Rule
from ncdiag.facts.model import Job, What
from ncdiag.facts.view import View

T = TypeVar("T")
_BRACES = lazy_regex(r"\{\{|\{\w+\.\w+\}")
_COMPLAINT = {
    True: f"has no `complaint`: state what goes wrong with this symptom, one of {', '.join(get_args(What))}",
    False: "has a `complaint`, which only a symptom with severity warning or error may have",
}
FactsOf = Callable[[Mapping[str, tuple[str, ...]], "str | None"], Job]
"""Maps the texts of an example (by section kind) and its host to the facts, through the real parsers."""
Look = Callable[[Mapping[str, tuple[str, ...]], "str | None"], View]
"""The same, to the view on which a rule is judged."""


def problems(
    rules: Iterable[Rule], facts_of: FactsOf, view_of: Callable[[Job], View] = View, book: Iterable[Rule] = ()
) -> list[str]:
    """The problems of the rules, one sentence each that begins with the rule's name; empty if there are none.

    ``book`` are the rules judged before a rule of the floor, which ignores what their findings rest on.
    """
    held, whole = list(rules), list(book)
    above = tuple(rule for rule in whole if not rule.floor)

    def look(sections: Mapping[str, tuple[str, ...]], host: str | None) -> View:
        return view_of(facts_of(sections, host))

    def look_below(sections: Mapping[str, tuple[str, ...]], host: str | None) -> View:
        view = look(sections, host)
        view.cited = cited(judge(above, view), view)
        return view

    found = [f"{rule.name}: {problem}" for rule in held for problem in _of_names(rule, whole)]
    for rule in held:
        found += [f"{rule.name}: {problem}" for problem in _problems(rule, look_below if rule.floor else look)]
    return found


def _of_names(rule: Rule, book: Collection[Rule]) -> Iterator[str]:
    """Names of unknown rules."""
    known = {name for other in (*book, rule) for name in (other.name, *other.formerly)}
    for name in rule.explains if book else ():
        if name not in known:
            hint = suggestion(name, known)
            yield f"explains {name!r}, which is not a rule" + (f": {hint}" if hint else "")


def _problems(rule: Rule, look: Look) -> Iterator[str]:
    outcomes = {example.outcome for example in rule.examples}
    for wanted, what in (("fired", "one that fires"), ("clear", "a near miss that stays clear")):
        if rule.when and wanted not in outcomes:
            yield f"has no example with outcome {wanted!r}: write {what}"
    if not rule.fixes:
        yield "has no fix"
    if not rule.references:
        yield "has no reference"
    for braces in filter(None, (_BRACES.search(ask.ask_for) for ask in rule.asks)):
        yield f"asks for {braces[0]!r}: nothing is filled in there, for no entity fits; write <device> or the like"
    if (rule.role == "symptom" and rule.severity != "info") is not (rule.complaint is not None):
        yield _COMPLAINT[rule.complaint is None]
    whole = msgspec.structs.replace(rule, program=program_of(rule))
    yield from _of_examples(whole, look)
    if rule.severity != "info" and rule.when:
        yield from _of_doubts(whole, look)


def _of_examples(rule: Rule, look: Look) -> Iterator[str]:
    """Results that differ from those that an example states, and conditions that no example needs."""
    tried = [(example, look(example.sections, example.host)) for example in rule.examples]
    wrong = [(example, view) for example, view in tried if not _as_stated(rule, example, view)]
    for example, view in tried:
        if any(not finding.evidence for finding in judge([rule], view)[0].findings):
            yield (
                f"example {example.name!r} fires without evidence: a derived field must `note` the facts that it uses"
            )
    for example, view in wrong:
        yield f"example {example.name!r} should be {example.outcome}: {_told(rule, view)}"
    if not wrong:
        for text, without in _with_a_clause_less(rule):
            if all(_as_stated(without, example, view) for example, view in tried):
                yield f"the clause {text!r} is not needed: every example has the same outcome without it"
        if rule.titles:
            yield from _of_titles(rule, [view for _, view in tried])


def _of_titles(rule: Rule, views: Collection[View]) -> Iterator[str]:
    """Titles of cases without an example, and conditions of titles that no example needs."""
    titles = _titles(rule, views)
    for what, other in _with_other_titles(rule):
        if _titles(other, views) == titles:
            yield f"no example shows {what}: all have the same title without it"


def _of_doubts(rule: Rule, look: Look) -> Iterator[str]:
    """Missing counterexamples of warnings and errors: inputs that resemble the fault, and inputs that show too little.

    Rules of certain facts need none that resembles it. A rule counts as covered for missing information if it is
    unknown without some part of an example that fires. The same holds for rules of the floor.
    """
    if not rule.false_positives and rule.strength != "certain":
        yield (
            f"is {rule.strength} and has no `false_positives`: describe healthy or other input that resembles the fault"
        )
    if not any(example.outcome == "unknown" for example in rule.examples):
        for example, what, rest in _with_a_section_less(rule):
            if outcome(rule, look(rest, example.host)) == "unknown":
                yield (
                    f"has no example with outcome 'unknown', and {example.name!r} is unknown without {what}: "
                    "write one that shows too little"
                )
                return


def _with_a_section_less(rule: Rule) -> Iterator[tuple[Example, str, dict[str, tuple[str, ...]]]]:
    """The sections of each firing example without one text, without one kind, and without all."""
    for example in rule.examples:
        if example.outcome == "fired":
            for kind, texts in example.sections.items():
                others = {name: held for name, held in example.sections.items() if name != kind}
                yield example, f"its {kind}", others
                for index in range(len(texts)) if len(texts) > 1 else ():
                    yield example, f"text {index + 1} of its {kind}", {**others, kind: _without(texts, index)}
            yield example, "any section", {}


def outcome(rule: Rule, view: View) -> str:
    """The outcome in the words of an example: a rule that does not apply is clear."""
    found = judge([rule], view)[0].outcome
    return "clear" if found == "not applicable" else found


def _as_stated(rule: Rule, example: Example, view: View) -> bool:
    return outcome(rule, view) == example.outcome


def _told(rule: Rule, view: View) -> str:
    """The outcome with the title of each instance."""
    verdict = judge([rule], view)[0]
    parts = [f"it is {verdict.outcome}"]
    if verdict.missing:
        parts.append(f"missing {', '.join(verdict.needs)}")
    words = {True: "true", False: "false", None: "unknown"}
    for seen in trace(rule, view, limit=3):
        names = ", ".join(f"{name} = {label}" for name, label in seen.names.items()) or "the job"
        results = [f"{text} is {words[result]}" for text, result in seen.when]
        results += [f"unless {text} is {words[result]}" for text, result in seen.unless]
        parts.append(f"for {names}: {'; '.join(results)}")
    return ". ".join(parts)


def _with_a_clause_less(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """The rule without one of its conditions or guards, for each."""
    program = program_of(rule)
    for index, text in enumerate(rule.when):
        less = completed(msgspec.structs.replace(program, when=_without(program.when, index)))
        yield text, msgspec.structs.replace(rule, when=_without(rule.when, index), program=less)
    for index, text in enumerate(rule.unless):
        less = completed(msgspec.structs.replace(program, unless=_without(program.unless, index)))
        yield text, msgspec.structs.replace(rule, unless=_without(rule.unless, index), program=less)


def _titles(rule: Rule, views: Iterable[View]) -> list[list[str]]:
    """The titles of the findings of each example."""
    return [[finding.title for finding in judge([rule], view)[0].findings] for view in views]


def _with_other_titles(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """The rule without one of its case titles or one of their conditions, for each."""
    program = program_of(rule)
    for index, (case, trees) in enumerate(zip(rule.titles, program.title_when, strict=True)):
        less = msgspec.structs.replace(program, title_when=_without(program.title_when, index))
        yield (
            f"the title {case.text!r}",
            msgspec.structs.replace(rule, titles=_without(rule.titles, index), program=less),
        )
        for part, text in enumerate(case.when):
            wider = (*program.title_when[:index], _without(trees, part), *program.title_when[index + 1 :])
            other = msgspec.structs.replace(program, title_when=wider)
            yield f"the condition {text!r} of a title", msgspec.structs.replace(rule, program=other)


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]
