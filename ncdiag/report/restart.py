"""What a restart of the job is worth, by the class of the cause that leads the answer (`Rule.restart`)."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.engine.schema import Rule
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.language import say
from ncdiag.report.model import Report
from ncdiag.report.next_steps import worth_showing
from ncdiag.report.restart_word import Restart

_FAILED = frozenset({"root-cause", "failed-cause-not-here", "complaint-nothing-seen"})
_OF_HOSTS = 35
"""Layers up to this one are those of a host: its GPUs, kernel, limits, interfaces and software (`areas.toml`)."""


def restart_of(report: Report, rules: Mapping[str, Rule]) -> Restart | None:
    """The word for the first answer, with the reason; None if there is none, or if it only says what may go wrong.

    A fault of a few hosts of many is left behind with them, even if it could be fixed.
    """
    named = {rule.name: rule for rule in rules.values()}
    rule = named.get(report.answers[0]) if report.answers else None
    if rule is None or rule.floor or report.summary.verdict not in _FAILED:
        return None
    found = next((finding for finding in report.findings if finding.name == rule.name), None)
    if found is None and all(suspect.name != rule.name for suspect in worth_showing(report)):
        return None
    hosts, count = (found.hosts, found.nhosts) if found is not None else ("", 0)
    is_few = 0 < 2 * count < (report.summary.nhosts or 0) and rule.effect == "host" and rule.layer <= _OF_HOSTS
    if rule.restart == "hosts" or (is_few and rule.restart == "fix"):
        why = "a part of the host is broken" if rule.restart == "hosts" else "only these hosts have the fault"
        return Restart("restart-without-hosts", say(why), hosts, rule.name)
    if rule.restart == "transient":
        return Restart("restart", say("the cause is outside the job and does not last"), "", rule.name)
    if report.summary.verdict == "root-cause":
        why = say("the job will fail again until this is fixed")
    else:
        why = say("if this is the cause, the job will fail again")
    return Restart("fix-first", why, "", rule.name)


def sentence(restart: Restart) -> str:
    """The word in a sentence: ``restart without n017 (a part of the host is broken)``."""
    if restart.word == "restart-without-hosts":
        who = say("the host of this input") if restart.hosts in {"", UNNAMED} else restart.hosts
        return say("restart without {hosts} ({reason})", hosts=who, reason=restart.reason)
    word = say("fix first") if restart.word == "fix-first" else say("restart")
    return say("{word} ({reason})", word=word, reason=restart.reason)
