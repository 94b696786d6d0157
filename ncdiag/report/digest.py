"""What a report for people says and in which order; the renderers only decide how it looks."""

from __future__ import annotations

from itertools import takewhile

from ncdiag.report.model import EVIDENCE_LIMIT, Conflict, Finding, Fix, Input, Report, Unknown

SHOWN_INPUTS = 6
SHOWN_ASKS = 3
SHOWN_LAUNCHERS = 3
"""Launchers whose lines a person is shown; JSON has them all."""

_HEADLINES = {
    "root-cause": "Root cause",
    "symptom-only": "Symptom only: the cause is not in this input",
    "healthy-as-far-as-seen": "No fault found, as far as this input shows",
    "nothing-understood": "Nothing in this input was understood",
}
_PROOFS = {"proved": "Proved", "not-simulated": "Not simulated", "refuted": "Refuted"}
HELP_WHEN_NOTHING = (
    "Paste or name a log of an NCCL job (run it with NCCL_DEBUG=INFO), or the output of ibstat, show_gids, ip addr, "
    "nvidia-smi topo -m, env."
)


def headline(report: Report) -> str:
    """The verdict in words."""
    return _HEADLINES[report.summary.verdict]


def was_read(report: Report) -> list[str]:
    """Phrases on what was read: each input with its kinds, then hosts, ranks and the NCCL version."""
    lines = [_input(item) for item in report.inputs[:SHOWN_INPUTS]]
    rest = report.inputs[SHOWN_INPUTS:]
    if rest:
        lines.append(f"and {_count(len(rest), 'more input')} with {_count(sum(i.lines for i in rest), 'line')}")
    known = report.summary
    job = [
        f"{_count(known.nhosts, 'host')}{f' ({known.hosts})' if known.hosts else ''}" if known.nhosts else known.hosts,
        _count(known.nranks, "rank") if known.nranks else "",
        f"NCCL {known.nccl_version}" if known.nccl_version else "NCCL version unknown",
    ]
    if known.verdict == "nothing-understood":
        return lines
    return [*lines, ", ".join(filter(None, job))]


def _input(item: Input) -> str:
    kinds = ", ".join(dict.fromkeys(section.kind for section in item.sections)) or "nothing recognised"
    notes = "".join(f"; {note}" for note in item.notes)
    length = f"{_count(item.lines, 'line')}; " if item.lines or not item.sections else ""
    return f"{item.source}: {length}{kinds}{notes}"


def roots(report: Report) -> list[Finding]:
    """The findings that nothing else explains, the leading one first."""
    return [finding for finding in report.findings if not finding.explained_by]


def consequences(report: Report, cause: Finding) -> list[Finding]:
    """The findings that this one explains, directly or through others, in the report's order."""
    explained, grown = {cause.name}, True
    while grown:
        more = {f.name for f in report.findings if explained.intersection(f.explained_by)}
        grown, explained = not more <= explained, explained | more
    return [finding for finding in report.findings if finding.name in explained and finding.name != cause.name]


def label(finding: Finding) -> str:
    """Name, code and standing of a finding."""
    return f"{finding.name} ({finding.code}, {finding.severity}, {finding.confidence})"


def where(finding: Finding) -> str:
    """Hosts and ranks of a finding, empty when it has none."""
    ranks = f"{'rank' if finding.nranks == 1 else 'ranks'} {finding.ranks}" if finding.ranks else ""
    return ", ".join(filter(None, [finding.hosts, ranks]))


def more_evidence(finding: Finding, shown: int = EVIDENCE_LIMIT) -> str:
    """How much evidence is not shown, empty when all of it is."""
    rest = max(finding.evidence_count, len(finding.evidence)) - min(shown, len(finding.evidence))
    return f"and {_count(rest, 'more line')}" if rest > 0 else ""


def remedies(report: Report, finding: Finding) -> tuple[list[Fix], list[str]]:
    """The fixes of a finding, and those that would not help, without what an earlier finding shown has told already."""
    earlier = list(takewhile(lambda other: other is not finding, roots(report)))
    fixes = [fix for fix in finding.fixes if not any(fix in other.fixes for other in earlier)]
    return fixes, [text for text in finding.not_offered if not any(text in other.not_offered for other in earlier)]


def fix_title(fix: Fix) -> str:
    """The remedy with its scope, risk and versions."""
    notes = [fix.scope, f"{fix.risk} risk", f"NCCL {fix.applies_to}" if fix.applies_to else ""]
    if fix.workaround:
        notes.append("a workaround, it hides the fault")
    return f"{fix.text} ({'; '.join(filter(None, notes))})"


def fix_notes(fix: Fix) -> list[tuple[str, str]]:
    """Label and text of what is known about a fix: its proof and how to confirm it."""
    notes = [(_PROOFS[fix.proof.state], fix.proof.text)] if fix.proof else []
    return [*notes, ("Confirm", fix.confirm)] if fix.confirm else notes


def paste_lines(fix: Fix) -> list[tuple[str, str]]:
    """Launcher and the line to paste into it; without rendered lines, the variables whose values are known."""
    if fix.commands:
        launchers = [launcher for launcher in fix.commands if launcher != "shell"][:SHOWN_LAUNCHERS]
        shown = [*launchers, *(launcher for launcher in fix.commands if launcher == "shell")]
        return [(launcher, line) for launcher in shown for line in fix.commands[launcher].split("\n")]
    known = [("set", f"{name}={value}") for name, value in fix.env.items() if value is not None]
    return known + [("unset", name) for name in fix.unset]


def ask(unknown: Unknown) -> str:
    """Why a rule could not be judged and what would settle it."""
    missing = f"needs {', '.join(unknown.missing)}" if unknown.missing else ""
    what = "" if any("output" in text for text in unknown.ask_for) else "the output of "
    paste = f"paste {what}{' or '.join(unknown.ask_for)}" if unknown.ask_for else ""
    return f"{unknown.name} ({unknown.code}): " + ("; ".join(filter(None, [missing, paste])) or "facts are missing")


def disagreement(conflict: Conflict) -> str:
    """Which field the sources disagree on, with the values and the one that was believed."""
    believed = "none was believed" if conflict.kept is None else f"{conflict.kept} was believed"
    return f"{conflict.entity} {conflict.field}: {' / '.join(conflict.values)}; {believed}"


def not_understood(report: Report) -> str:
    """How many lines nobody understood, empty when all were."""
    unread, lines = sum(i.unread_lines for i in report.inputs), sum(i.lines for i in report.inputs)
    return f"{unread} of {_count(lines, 'line')} not understood" if unread else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
