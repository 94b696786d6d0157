"""The content and order of a report for people; the renderers only format it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ncdiag import language
from ncdiag.base.patterns import lazy_regex
from ncdiag.language import cells, phrase, say
from ncdiag.report.model import (
    EVIDENCE_LIMIT,
    Complaint,
    Conflict,
    Evidence,
    Finding,
    Fix,
    Input,
    Question,
    Report,
    RuledOut,
    Sign,
    Suspect,
    Unknown,
)
from ncdiag.report.unnamed import named, number_of_hosts
from ncdiag.report.words import OUTCOMES, PHASES, STEPS, TOLD_PHASES, TROUBLES

SHOWN_INPUTS, SHOWN_OF_MANY = 6, 2
"""Inputs that are named: all if there are few, else the first ones."""
SHOWN_SECTIONS = 8
"""Sections of an input whose line numbers are shown; if there are more, only the kinds."""
SHOWN_ASKS = 3
SHOWN_GROUPS = 3
"""Maximum number of groups of ranks with the same last action."""
LIST_LIMIT = 160
"""Maximum length of a list of hosts or ranks, in characters."""
_MARKS = ", ，；。、"
"""Characters after which a text is preferably cut."""
TRIED = frozenset({"Proved", "Simulated"})
"""Labels of proofs that a short text mentions."""
WORKAROUND = "a workaround that hides the fault"
SHOWN_LAUNCHERS = 3
"""Maximum number of launchers whose lines are shown to a person; JSON has all."""

HEADLINES = {
    "root-cause": "Root cause",
    "failed-cause-not-here": "Something is wrong, but its cause is not in this input",
    "complaint-nothing-seen": "The problem that you describe does not appear in this input",
    "risk-only": "No failure found, but there is a risk",
    "healthy-as-far-as-seen": "No fault found in this input",
    "nothing-understood": "Nothing in this input was recognised",
}
counted = language.counted
_NUMBER = lazy_regex(r"[0-9a-f]*[0-9][0-9a-f]*")
_PROOFS = {"proved": "Proved", "not-simulated": "Not simulated", "refuted": "Refuted"}
HELP_WHEN_NOTHING = (
    "Paste the log of an NCCL job (run it with NCCL_DEBUG=INFO), or the output of ibstat, show_gids, ip "
    "addr, nvidia-smi topo -m or env, or give a file that contains it."
)


def headline(report: Report) -> str:
    """The verdict in words."""
    return say(HEADLINES[report.summary.verdict])


def complained(report: Report) -> list[str]:
    """What goes wrong if its cause is unknown; in a person's words if the input does not show it."""
    verdict = report.summary.verdict
    if verdict == "complaint-nothing-seen":
        shown = dict.fromkeys(cut(found.text, LIST_LIMIT) for found in report.complaints if found.told)
        return [say("You wrote: {text}", text=text) for text in list(shown)[:SHOWN_ASKS]]
    if verdict != "failed-cause-not-here":
        return []
    titles = {finding.title for finding in report.findings}
    return [trouble(found) for found in report.complaints if not found.told and found.text not in titles][:SHOWN_ASKS]


def trouble(found: Complaint) -> str:
    """``It hangs, in the first collective (ranks 0-3 on n1): ...``."""
    what = say(TROUBLES.get(found.what, found.what))
    if found.phase in PHASES:
        what = say("{trouble}, {phase}", trouble=what, phase=say(PHASES[found.phase]))
    if found.where:
        what = say("{text} ({note})", text=what, note=cut(found.where, LIST_LIMIT))
    return say("{label}: {text}", label=what, text=cut(found.text, LIST_LIMIT))


def first_to_fail(report: Report) -> list[tuple[str, str]]:
    """(label, text) of each line on who failed first, and on the last actions of the ranks."""
    lines: list[tuple[str, str]] = []
    groups, unordered = 0, False
    for moment in report.timeline:
        groups += moment.what == "last"
        if groups > SHOWN_GROUPS:
            continue
        is_open = moment.what != "last" and moment.ordered_by == "none"
        unordered = unordered or is_open
        who = moment.who or say("a process")
        if moment.evidence and moment.what != "last":
            who = say("{text} ({note})", text=who, note=place(moment.evidence[0]))
        label = say("among the first") if is_open else say(STEPS[moment.what])
        lines.append((label, say("{label}: {text}", label=who, text=moment.text)))
    if groups > SHOWN_GROUPS:
        lines.append(("", say("and {groups} of ranks", groups=counted(groups - SHOWN_GROUPS, "more group"))))
    if unordered:
        text = say("the order of the first lines is unknown: no timestamps, or timestamps too close together")
        lines.append((say("order"), text))
    return lines


def ruled_out(report: Report) -> str:
    """``the network between hosts (the job is on one host)``: what is ruled out; empty if nothing is."""
    return say("; ").join(say("{text} ({note})", text=found.what, note=_why_not(found)) for found in report.ruled_out)


def _why_not(found: RuledOut) -> str:
    """The reason; for a candidate with the place of the line that shows it."""
    if not found.name or not found.evidence:
        return found.because
    return say("{label}: {text}", label=found.because, text=place(found.evidence[0]))


def was_read(report: Report) -> list[str]:
    """Phrases on the input: each source with its kinds, then hosts, ranks and the NCCL version."""
    shown = SHOWN_INPUTS if len(report.inputs) <= SHOWN_INPUTS else SHOWN_OF_MANY
    lines = [_input(item) for item in report.inputs[:shown]]
    rest = report.inputs[shown:]
    if rest:
        number = counted(sum(item.lines for item in rest), "line")
        lines.append(say("and {inputs} with {lines}", inputs=counted(len(rest), "more input"), lines=number))
    if report.summary.verdict == "nothing-understood":
        return lines
    return [*lines, job_read(report), *_told(report)]


def job_read(report: Report) -> str:
    """``2 hosts (n[1-2]), 16 ranks, NCCL 2.21.5``."""
    known = report.summary
    if known.verdict == "nothing-understood":
        return ""
    hosts = number_of_hosts(report) if known.nhosts else named(known.hosts, report)
    if known.nhosts and known.hosts:
        hosts = say("{text} ({note})", text=hosts, note=named(known.hosts, report))
    ranks = counted(known.nranks, "rank") if known.nranks else ""
    version = phrase(f"NCCL {known.nccl_version}") if known.nccl_version else say("NCCL version unknown")
    return say(", ").join(filter(None, [hosts, ranks, version]))


def _told(report: Report) -> list[str]:
    """A line on the problems that people report and the results of their trials; nothing if they tried nothing."""
    groups: dict[str, list[str]] = {}
    for told in report.told:
        if told.kind in OUTCOMES:
            groups.setdefault(say(OUTCOMES[told.kind]), []).append(told.label)
    if not groups:
        return []
    wrong = [
        say("{what} {phase}", what=say(said.what), phase=say(TOLD_PHASES[said.phase]))
        if said.phase in TOLD_PHASES
        else say(said.what)
        for said in report.complaints
    ]
    parts = [f"{outcome} {', '.join(labels)}" for outcome, labels in groups.items()]
    return [say("reported: {text}", text=cut(say("; ").join([*dict.fromkeys(wrong), *parts]), LIST_LIMIT))]


def _input(item: Input) -> str:
    length = [counted(item.lines, "line")] if item.lines or not item.sections else []
    kinds = ", ".join(_kinds(item)) or say("nothing recognised")
    return say("{label}: {text}", label=item.source, text=say("; ").join([*length, kinds, *item.notes]))


def _kinds(item: Input) -> list[str]:
    """The recognised kinds, with their line numbers if there are few sections."""
    places: dict[str, list[tuple[int, int]]] = {}
    for section in sorted(item.sections, key=lambda section: section.first_line):
        if not section.first_line:  # from a machine, not from a text
            return [*dict.fromkeys(section.kind for section in item.sections)]
        ranges = places.setdefault(section.kind, [])
        begin, end = section.first_line, section.last_line
        while ranges and ranges[-1][1] >= begin - 1:  # of several ranks, interleaved
            begin, end = min(begin, ranges[-1][0]), max(end, ranges.pop()[1])
        ranges.append((begin, end))
    if not 1 < sum(map(len, places.values())) <= SHOWN_SECTIONS:
        return list(places)
    return [
        f"{kind} {' '.join(f'{begin}-{end}' if end > begin else str(begin) for begin, end in ranges)}"
        for kind, ranges in places.items()
    ]


def roots(report: Report) -> list[Finding]:
    """The findings that no other finding explains, the leading one first."""
    return [finding for finding in report.findings if not finding.explained_by]


def consequences(report: Report, cause: Finding) -> list[Finding]:
    """The findings that this one explains, directly or through others, in the report's order."""
    explained, grown = {cause.name}, True
    while grown:
        more = {f.name for f in report.findings if explained.intersection(f.explained_by)}
        grown, explained = not more <= explained, explained | more
    return [finding for finding in report.findings if finding.name in explained and finding.name != cause.name]


def label(finding: Finding) -> str:
    """Name, code and status of a finding."""
    standing = say(", ").join((finding.code, say(finding.severity), say(finding.confidence)))
    return say("{text} ({note})", text=finding.name, note=standing)


def where(finding: Finding, report: Report) -> str:
    """Hosts and ranks of a finding, empty if it has none; a list that is too long ends in their number."""
    ranks = (
        say("rank {ranks}" if finding.nranks == 1 else "ranks {ranks}", ranks=finding.ranks) if finding.ranks else ""
    )
    parts = [(named(finding.hosts, report), finding.nhosts), (ranks, finding.nranks)]
    return say(", ").join(_counted(text, number) for text, number in parts if text)


def _counted(text: str, number: int) -> str:
    if len(text) <= LIST_LIMIT:
        return text
    return say("{text} ({note})", text=cut(text, LIST_LIMIT), note=say("{n} in all", n=number))


def cut(text: str, limit: int) -> str:
    """The text cut after the last comma or blank within ``limit`` columns; ``...`` marks the omission."""
    limit = cells.fit(text, limit)
    if len(text) == limit:
        return text
    end = max(text.rfind(mark, 0, limit) for mark in _MARKS)
    return f"{text[: end if end > limit // 2 else limit].rstrip(_MARKS)} ..."


def suspects_lead(report: Report) -> bool:
    """True if the first answer is a suspect."""
    return bool(report.suspects) and report.answers[0] == report.suspects[0].name


def suspects_title(report: Report) -> str:
    """The heading of the suspects: if no failure was seen, they are only worth checking."""
    if report.summary.verdict in {"risk-only", "healthy-as-far-as-seen"}:
        return say("Possible causes (no failure was found)")
    return say("Most likely causes (not proved)")


def how_likely(suspect: Suspect) -> str:
    """The word for its likelihood, and whether the next answer is as likely."""
    word = say(suspect.likelihood)
    return say("{word}, as likely as the next", word=word) if suspect.is_tied else word


def suspected(suspect: Suspect) -> str:
    """Name, code, title and likelihood of a suspect."""
    label = say("{text} ({note})", text=suspect.name, note=suspect.code)
    return say("{label}: {text}", label=label, text=f"{suspect.title}  [{how_likely(suspect)}]")


def shown_at(sign: Sign) -> str:
    """The line that shows a sign; empty if it rests on no line."""
    return place(sign.evidence[0]) if sign.evidence else ""


def with_place(sign: Sign) -> str:
    """The text of a sign and its place."""
    return say("{text} ({note})", text=sign.text, note=shown_at(sign)) if sign.evidence else sign.text


def question(asked_for: Question) -> str:
    """What to paste or to try, and what the answer would mean."""
    if asked_for.run:
        return say("{setting} for one run: {text}", setting=asked_for.ask, text=asked_for.text)
    if not asked_for.ask:
        return asked_for.text
    return say("{label}: {text}", label=pasted((asked_for.ask,)), text=asked_for.text)


def place(item: Evidence) -> str:
    """File and line."""
    return f"{item.source}:{item.line}" if item.line else item.source


def telling(finding: Finding) -> list[Evidence]:
    """The evidence, without lines that differ from an earlier one only in their numbers."""
    found: dict[str, Evidence] = {}
    for item in finding.evidence:
        found.setdefault(_NUMBER.sub("0", item.text), item)
    return list(found.values())


def more_evidence(finding: Finding, shown: int = EVIDENCE_LIMIT) -> str:
    """The amount of evidence that is not shown; empty if all of it is."""
    rest = max(finding.evidence_count, len(finding.evidence)) - min(shown, len(finding.evidence))
    return say("and {lines}", lines=counted(rest, "more line")) if rest > 0 else ""


def remedies(report: Report, finding: Finding) -> tuple[list[Fix], list[str]]:
    """(fixes of a finding, fixes that would not help), without those that an earlier finding has shown."""
    earlier = list(takewhile(lambda other: other is not finding, roots(report)))
    fixes = [fix for fix in finding.fixes if not any(fix in other.fixes for other in earlier)]
    return fixes, [text for text in finding.not_offered if not any(text in other.not_offered for other in earlier)]


def fix_title(fix: Fix) -> str:
    """The remedy with its scope, risk and versions."""
    notes = [fix_scope(fix), say(f"{fix.risk} risk"), f"NCCL {fix.applies_to}" if fix.applies_to else ""]
    if fix.workaround:
        notes.append(say(WORKAROUND))
    return say("{text} ({note})", text=fix.text, note=say("; ").join(filter(None, notes)))


def fix_scope(fix: Fix) -> str:
    """Where to apply the fix; empty while a value of it is not known: its text then ends with what to paste."""
    return "" if None in fix.env.values() else fix.scope


def proof_label(fix: Fix, *, suspected: bool = False) -> str:
    """The label of the proof of a fix; ``Proved`` only if the simulated choice ends the fault.

    For a workaround or a test the effect is only simulated, and for a suspect it is unknown whether it is the fault. In
    English: `say` translates it.
    """
    if fix.proof is None:
        return ""
    simulated = fix.proof.state == "proved" and (fix.workaround or suspected)
    return "Simulated" if simulated else _PROOFS[fix.proof.state]


def fix_in_short(fix: Fix, *, suspected: bool = False) -> str:
    """The remedy, and whether it was proved; ``suspected``: it is that of a suspect."""
    label = proof_label(fix, suspected=suspected)
    notes = [say(label.lower())] if label in TRIED else []
    notes += [say(WORKAROUND)] if fix.workaround else []
    return say("{text} ({note})", text=fix.text, note=say("; ").join(notes)) if notes else fix.text


def fix_notes(fix: Fix, *, suspected: bool = False) -> list[tuple[str, str]]:
    """(label, text) of the proof of a fix and how to confirm it; ``suspected``: it is that of a suspect."""
    notes = [(say(proof_label(fix, suspected=suspected)), fix.proof.text)] if fix.proof else []
    return [*notes, (say("Confirm"), fix.confirm)] if fix.confirm else notes


def paste_lines(fix: Fix) -> list[tuple[str, str]]:
    """(launcher, line to paste); without rendered lines, the variables whose values are known."""
    if fix.commands:
        launchers = [launcher for launcher in fix.commands if launcher != "shell"][:SHOWN_LAUNCHERS]
        shown = [*launchers, *(launcher for launcher in fix.commands if launcher == "shell")]
        return [(launcher, line) for launcher in shown for line in fix.commands[launcher].split("\n")]
    known = [("set", f"{name}={value}") for name, value in fix.env.items() if value is not None]
    return known + [("unset", name) for name in fix.unset]


def ask(unknown: Unknown) -> str:
    """Why a rule could not be judged and what would settle it."""
    label = say("{text} ({note})", text=unknown.name, note=unknown.code)
    if not unknown.ask_for:
        text = say("facts are missing; ncdiag explain {code} FILE lists them", code=unknown.code)
    else:
        text = say("needs {facts}; {paste}", facts=say(", ").join(unknown.missing), paste=pasted(unknown.ask_for))
    return say("{label}: {text}", label=label, text=text)


def asked(things: Sequence[str], glue: str) -> str:
    """What to paste: for a command its output; what is named as an output, a log or a file unchanged."""
    named = any("output" in text for text in things) or things[0].split(" ", 1)[0] in {"the", "a"}
    held = say(glue).join(map(phrase, things))
    return held if named else say("the output of {commands}", commands=held)


def pasted(things: Sequence[str]) -> str:
    """``paste the output of ibstat or show_gids``."""
    return say("paste {outputs}", outputs=asked(things, " or "))


def failed(fault: str) -> str:
    """The part in which ncdiag failed, with what to do about it."""
    return say(
        "{fault}; the rest of the report is valid. Please report this error (NCDIAG_DEBUG=1 prints the traceback).",
        fault=fault,
    )


def disagreement(conflict: Conflict) -> str:
    """The field on which the sources disagree, with the values and the one that was used."""
    kept = conflict.kept
    believed = say("none was used") if kept is None else say("{value} was used", value=kept)
    text = say("; ").join((" / ".join(conflict.values), believed))
    return say("{label}: {text}", label=f"{conflict.entity} {conflict.field}", text=text)


def not_understood(report: Report) -> str:
    """The number of lines not understood, empty if all were."""
    unread, lines = sum(i.unread_lines for i in report.inputs), sum(i.lines for i in report.inputs)
    return say("{n} of {lines} not recognised", n=unread, lines=counted(lines, "line")) if unread else ""
