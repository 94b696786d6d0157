"""Rules as text for the commands ``rules`` and ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncdiag.apps.explaining import signs
from ncdiag.apps.explaining.columns import width
from ncdiag.apps.explaining.conditions import meanings
from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.results import Trace, Verdict
from ncdiag.engine.schema import Fix, Rule
from ncdiag.language import cells, say

_VALUE = lazy_regex(r"\{[^{}]*\}\.?")
_WORDS: dict[bool | None, str] = {True: "true", False: "false", None: "unknown"}


def find(word: str, rules: Iterable[Rule]) -> Rule:
    """The rule with that code, name or former name. Raises UsageError, with a suggestion, if there is none."""
    from ncdiag.base.errors import suggestion

    known = {name: rule for rule in rules for name in (rule.code, rule.name, *rule.formerly)}
    if word not in known:
        msg = f"there is no rule {word!r}; {suggestion(word, known, '`ncdiag rules list` lists all rules')}"
        raise UsageError(msg)
    return known[word]


def table(rules: Iterable[Rule]) -> str:
    """One line per rule: code, severity, role, name and title."""
    held = list(rules)
    widest = max((len(rule.name) for rule in held), default=0)
    lines = (f"{r.code:8} {r.severity:8} {r.role:8} {r.name:{widest}}  {r.title}" for r in held)
    return "".join(f"{line}\n" for line in lines)


def page(rule: Rule) -> str:
    """The complete description of a rule: what it is, what to do, when it is wrong, and how it is found."""
    return "\n".join(_page(rule)) + "\n"


def _page(rule: Rule) -> Iterator[str]:
    yield f"{rule.name} ({rule.code}, {rule.area}, {rule.severity}, {rule.role})"
    yield from _wrapped(_title(rule), "  ")
    for case in rule.titles:
        text = say("where {conditions}: {text}", conditions=" and ".join(case.when), text=case.text)
        yield from _wrapped(text, "    ")
    if rule.formerly:
        yield "  " + say("formerly {names}", names=", ".join(rule.formerly))
    yield ""
    yield from _wrapped(rule.why, "  ")
    yield ""
    if rule.applies.nccl:
        yield "  " + say("applies to NCCL {versions}", versions=rule.applies.nccl)
    for fix in rule.fixes:
        yield from _fix(fix)
    yield from _listed("possible false positives", rule.false_positives)
    yield from _listed("see", rule.references)
    yield from ("  " + say("for each {name} of {path}", name=name, path=path) for name, path in rule.each.items())
    yield from _conditions(rule)
    yield from signs.listed(rule)
    yield from _listed("cells", (f"{thing} {reason} ({weight})" for thing, reason, weight in rule.cells))
    yield from _listed("explains", rule.explains)


def _title(rule: Rule) -> str:
    """The title; the sentence of the suspect where the title is nothing but a value of the input."""
    return rule.suspect.text if rule.suspect and _VALUE.fullmatch(rule.title) else rule.title


def _conditions(rule: Rule) -> Iterator[str]:
    """The conditions, each with the meaning of its derived fields."""
    said = meanings(rule)
    for label, clauses in (("when", rule.when), ("unless", rule.unless)):
        if clauses:
            yield f"  {say(label)}"
        for clause in clauses:
            yield from _wrapped(clause, "    ")
            for text in said[clause]:
                yield from _wrapped(text, "      ")


def _fix(fix: Fix) -> Iterator[str]:
    notes = [fix.kind, say(f"{fix.risk} risk"), *([f"NCCL {fix.applies.nccl}"] if fix.applies.nccl else [])]
    yield "  " + say("{text} ({note})", text=say("fix"), note=say(", ").join(notes))
    yield from _wrapped(fix.text, "    ")
    yield from (f"    {name}={value}" for name, value in fix.env.items())
    yield from (f"    unset {name}" for name in fix.unset)
    yield from (f"    {command}" for command in fix.commands)
    yield from ("    " + say("only when {condition}", condition=condition) for condition in fix.when)


def _listed(label: str, items: Iterable[str]) -> Iterator[str]:
    held = list(items)
    if held:
        yield f"  {say(label)}"
        for item in held:
            yield from _wrapped(item, "    ")


def _wrapped(text: str, indent: str) -> list[str]:
    return cells.wrap(" ".join(text.split()), width(), indent, indent)


def judged(verdict: Verdict, traces: Iterable[Trace]) -> str:
    """How a rule was judged on an input: the outcome, then every instance with each of its conditions."""
    if not verdict.rule.when:
        return f"{verdict.rule.name} ({verdict.rule.code}): {say('only ever reported as a suspect')}\n"
    lines = [f"{verdict.rule.name} ({verdict.rule.code}): {say(verdict.outcome)}"]
    lines += [f"  {finding.title}" for finding in verdict.findings]
    lines += [f"  {say('missing')}: {', '.join(verdict.needs)}"] if verdict.missing else []
    held, said = list(traces), meanings(verdict.rule)
    if not held and verdict.rule.each:
        lines.append(f"  {say('the input contains nothing that the rule applies to')}")
    for number, seen in enumerate(held, 1):
        names = ", ".join(f"{name} = {label}" for name, label in seen.names.items())
        lines += ["", f"  {number}. {names or say('the job')}"]
        for before, clauses in (("", seen.when), (f"{say('unless')} ", seen.unless)):
            for text, result in clauses:
                lines.append(f"     {cells.pad(say(_WORDS[result]), 8)}{before}{' '.join(text.split())}")
                meant = said.get(text, ()) if number == 1 else ()
                lines += [line for words in meant for line in _wrapped(words, " " * 15)]
    return "\n".join(lines) + "\n"
