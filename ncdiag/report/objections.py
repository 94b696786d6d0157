"""Would the fault remain, or a new one come, with a fix applied? The rules are asked about the state after the fix."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.engine.evaluate import judge
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View
from ncdiag.fixes.applied import applied, decides, only_set, undecided
from ncdiag.fixes.proofs.outcome import Change

_SEVERITIES = frozenset({"error", "warning"})


class Objection(msgspec.Struct, frozen=True):
    """A finding that the state after a fix still has: the name of its rule, and its title.

    ``by_value``: it is about the value that the fix sets, whatever NCCL chooses with it.
    """

    rule: str
    title: str
    by_value: bool


def objections(view: View, rules: Sequence[Rule], change: Change) -> tuple[Objection, ...]:
    """The causes that the rules find with a change applied, and that depend on what the change decides.

    A rule that finds the same where nothing is known of that quantity does not read it, and is not asked. Empty for a
    change whose effect on the facts is not modelled.
    """
    if not rules or not decides({*change.env, *change.unset}):
        return ()
    key = ("objections", *change.env.items(), change.unset)
    return view.remembered(key, lambda: _objections(view, rules, change))


def _objections(view: View, rules: Sequence[Rule], change: Change) -> tuple[Objection, ...]:
    asked = [rule for rule in rules if not rule.floor and rule.role != "symptom" and rule.severity in _SEVERITIES]
    after = [found for verdict in judge(asked, applied(view, change)) for found in verdict.findings]
    before = _titles(after, view)
    new = [found for found in after if _title(found) not in before or _is_cured_by(found.rule, change)]
    anyway = _titles(new, undecided(view, change)) if new else frozenset()
    new = [found for found in new if _title(found) not in anyway]
    by_value = _titles(new, only_set(view, change)) if new else frozenset()
    return tuple(Objection(*_title(found), _title(found) in by_value) for found in new)


def _titles(found: Sequence[Finding], view: View) -> frozenset[tuple[str, str]]:
    """(rule, title) of all findings of the rules that found these."""
    rules = {each.rule.name: each.rule for each in found}
    return frozenset(_title(each) for verdict in judge(rules.values(), view) for each in verdict.findings)


def _title(found: Finding) -> tuple[str, str]:
    return found.rule.name, found.title


def _is_cured_by(rule: Rule, change: Change) -> bool:
    """Do the variables of the change concern the fault: does a fix of the rule set or remove one of them?

    A fix with another purpose, for a job with two faults, leaves the other one as it is.
    """
    names = {*change.env, *change.unset}
    return any(not names.isdisjoint({*fix.env, *fix.unset}) for fix in rule.fixes)
