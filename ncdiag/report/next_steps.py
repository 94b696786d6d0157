"""The next steps: apply the fix and confirm it, or the output or run that would give more information."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.language import phrase, say
from ncdiag.report import digest, labelled
from ncdiag.report.model import Finding, NextStep, Report, Suspect

MOST = 3
"""Maximum number of steps in a report: a longer list is not followed."""
_LOG = "NCCL_DEBUG=INFO"
_CALM = frozenset({"risk-only", "healthy-as-far-as-seen", "complaint-nothing-seen"})
_OPEN = frozenset({"failed-cause-not-here", "complaint-nothing-seen"})
_SETTLED = frozenset({"certain", "likely"})


def next_steps(report: Report) -> tuple[NextStep, ...]:
    """The steps, most useful first, without repetitions."""
    return tuple({step.run or step.text: step for step in _steps(report)}.values())[:MOST]


def _steps(report: Report) -> Iterator[NextStep]:
    verdict = report.summary.verdict
    if verdict == "nothing-understood":
        yield NextStep("paste", "", labelled.help_when_nothing(report))
        return
    if verdict == "healthy-as-far-as-seen" and not worth_showing(report):
        yield _when_well(report)
        return
    lead = leading(report)
    if lead is not None and lead.role == "cause":
        yield from _applied(lead)
    if lead is not None:
        for wanted in lead.asks:
            yield NextStep("paste", wanted.ask_for, say("shows {facts}", facts=phrase(wanted.missing)))
    settled = lead is not None and lead.role == "cause" and lead.confidence in _SETTLED
    if not settled:
        yield from _asked(report)
    if verdict in _OPEN and _log_missing(report):
        yield NextStep("run", _LOG, say("run the job again with this set, and give the output of all ranks"))
    if verdict in _OPEN:
        yield from _not_seen(report)


def _when_well(report: Report) -> NextStep:
    """The step if nothing indicates a problem of the machine or the job."""
    if report.looks:
        text = say("compares the hosts of a job; run ncdiag collect -o HOST.tar.gz on each")
        return NextStep("run", "ncdiag check HOST1.tar.gz HOST2.tar.gz", text)
    return NextStep("answer", "", say("if the job still has a problem, describe it in a sentence before the log"))


def leading(report: Report) -> Finding | None:
    """The finding that the screen is about; None if a suspect leads, or if there are only notes."""
    first = report.findings[0] if report.findings else None
    return None if first is None or first.severity == "info" or digest.suspects_lead(report) else first


def _not_seen(report: Report) -> Iterator[NextStep]:
    """The outputs that an expert would want to see and that are not in the input, most useful first."""
    for looked in report.summary.not_looked_at:
        what, _, command = looked.partition(" (")
        if command.endswith(")"):
            yield NextStep("paste", command.removesuffix(")"), phrase(what))


def worth_showing(report: Report) -> tuple[Suspect, ...]:
    """The suspects; if nothing went wrong, only those with a line of the input as evidence."""
    if report.summary.verdict not in _CALM:
        return report.suspects
    return tuple(each for each in report.suspects if any(sign.evidence for sign in each.supporting))


def _applied(lead: Finding) -> Iterator[NextStep]:
    fix = next(iter(lead.fixes), None)
    if fix is not None:
        confirmed = "apply the fix and restart the job; it worked when {sign}"
        text = say(confirmed, sign=fix.confirm) if fix.confirm else say("apply the fix and restart the job")
        yield NextStep("confirm", "", text)


def _asked(report: Report) -> Iterator[NextStep]:
    """What would separate unproved causes, and what the rules that could not be judged ask for."""
    for suspect in worth_showing(report):
        for question in suspect.decide[:1]:
            if question.ask:
                yield NextStep("run" if question.run else "paste", question.ask, question.text)
            else:
                yield NextStep("answer", "", question.text)
    for unknown in report.unknown:
        for ask in unknown.ask_for[:1]:
            text = say("shows {facts}", facts=say(", ").join(unknown.missing)) if unknown.missing else ""
            yield NextStep("paste", ask, text)


def _log_missing(report: Report) -> bool:
    """True if an NCCL log would help: there is none, or only what NCCL prints by default."""
    return not any(section.kind == "nccl_log" for item in report.inputs for section in item.sections)
