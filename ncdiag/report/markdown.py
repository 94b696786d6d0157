"""The report as Markdown, to paste into a ticket or a thread."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from ncdiag.base.patterns import lazy_regex
from ncdiag.language import lead_in, say
from ncdiag.report import digest, labelled
from ncdiag.report.model import Finding, Report
from ncdiag.report.sanitize import one_line

SHOWN_FINDINGS = 12
_SPECIAL = lazy_regex(r"[\\`*{}\[\]<>#|~&!]|(?<!\w)_|_(?!\w)")
_GAPS = lazy_regex(r"\n{3,}")
_BACKTICKS = lazy_regex(r"`+")


def render(report: Report, **_: object) -> str:
    """Markdown in which text of the input cannot format, link, mention or embed anything."""
    lines = [f"**{digest.headline(report)}**", ""]
    lines += [f"{inline(line)}\n" for line in digest.complained(report)]
    if report.summary.verdict == "nothing-understood":
        lines += [labelled.help_when_nothing(report), ""]
    notes = [f"- {label}{say(': ')}{inline(text)}" for label, text in labelled.lines(report)]
    lines += [*notes, ""] if notes else []
    first = digest.suspects_lead(report)
    lines += _suspects(report) if first else []
    found = digest.roots(report) or list(report.findings[:1])
    for index, finding in enumerate(found[:SHOWN_FINDINGS]):
        if index == 1:
            lines += [*([] if first else _suspects(report)), f"**{say('Also found')}**", ""]
        lines += _finding(report, finding)
    if not first and len(found) <= 1:
        lines += _suspects(report)
    if len(found) > SHOWN_FINDINGS:
        lines += [say("and {n} more", n=len(found) - SHOWN_FINDINGS), ""]
    lines += [*_timeline(report), *_looks(report)]
    if report.unknown:
        lines += [f"**{say('More input needed')}**", ""]
        lines += [f"- {inline(digest.ask(item))}" for item in report.unknown[: digest.SHOWN_ASKS]] + [""]
    lines += [f"- {lead_in('Read')}{inline(line)}" for line in digest.was_read(report)]
    lines += [f"- {lead_in('No longer ignored')}{inline(text)}" for text in report.expired]
    lines += [f"- {lead_in('ncdiag failed')}{inline(digest.failed(fault))}" for fault in report.faults]
    differ = report.conflicts[: digest.SHOWN_ASKS]
    lines += [f"- {lead_in('Sources disagree')}{inline(digest.disagreement(conflict))}" for conflict in differ]
    if report.ruled_out:
        lines.append(f"- {lead_in('Ruled out')}{inline(digest.ruled_out(report))}")
    if report.summary.not_looked_at:
        lines.append(f"- {lead_in('Not checked')}{inline(say('; ').join(report.summary.not_looked_at))}")
    if digest.not_understood(report):
        lines.append(f"- {digest.not_understood(report)}")
    tool = report.tool
    return _GAPS.sub("\n\n", "\n".join([*lines, "", f"({inline(tool.name)} {inline(tool.version)})", ""]))


def _timeline(report: Report) -> list[str]:
    lines = [f"- {label or '...'}: {inline(text)}" for label, text in digest.first_to_fail(report)]
    return [f"**{say('First to fail')}**", "", *lines, ""] if lines else []


def _looks(report: Report) -> list[str]:
    if not report.looks:
        return []
    from ncdiag.report import table  # most reports have none

    rows = [(title, row) for title, rows in table.areas(report) for row in rows]
    lines = [f"| {row.status} | {inline(title)} | {inline(row.what)} | {inline(row.text)} |" for title, row in rows]
    columns = f"| | {say('area')} | {say('check')} | {say('seen')} |"
    head = [f"**{say('Checks')}**", "", columns, "| --- | --- | --- | --- |"]
    return [*head, *lines, "", *_compared(report)]


def _compared(report: Report) -> list[str]:
    """The differences between hosts, and from the baseline."""
    from ncdiag.report import compared

    lines = [f"- {one.weight}: {inline(compared.line(one))}" for one in report.comparison]
    found = [f"**{inline(compared.heading(report))}**", "", *lines, ""] if compared.heading(report) else []
    if report.baseline is not None:
        lines = [f"- {one.weight}: {inline(compared.change(one))}" for one in report.baseline.changes]
        found += [f"**{inline(compared.beside_heading(report.baseline))}**", "", *lines, ""]
    return found


def _suspects(report: Report) -> list[str]:
    lines = [f"**{digest.suspects_title(report)}**", ""] if report.suspects else []
    for number, suspect in enumerate(report.suspects, 1):
        lines += [f"{number}. {inline(digest.suspected(suspect))}"]
        lines += [f"   - {lead_in('for')}{inline(digest.with_place(sign))}" for sign in suspect.supporting]
        lines += [f"   - {lead_in('against')}{inline(digest.with_place(sign))}" for sign in suspect.against]
        lines += [f"   - {lead_in('open')}{inline(text)}" for text in suspect.open]
        lines += [f"   - {lead_in('decide')}{inline(digest.question(asked))}" for asked in suspect.decide[:1]]
        lines += [f"   - {lead_in('fix')}{inline(digest.fix_in_short(fix, suspected=True))}" for fix in suspect.fixes]
    return [*lines, ""] if lines else []


def _finding(report: Report, finding: Finding) -> list[str]:
    label, place = digest.label(finding), digest.where(finding, report)
    text = say("{finding} on {where}", finding=label, where=place) if place else label
    lines = [f"### {inline(finding.title)}", "", inline(text)]
    if finding.why:
        lines += ["", inline(finding.why)]
    lines.append("")
    if finding.evidence:
        lines += [
            lead_in("Evidence").rstrip(),
            *_fenced([_evidence(item.source, item.line, item.text) for item in finding.evidence]),
        ]
        lines += [digest.more_evidence(finding, len(finding.evidence)), ""]
    fixes, not_offered = digest.remedies(report, finding)
    if len(fixes) < len(finding.fixes):
        lines += [f"**{say('Fix')}**{say(': ')}{say('as above')}", ""]
    for fix in fixes:
        lines += [f"**{say('Fix')}**{say(': ')}{inline(digest.fix_title(fix))}", ""]
        for launcher, pasted in groupby(digest.paste_lines(fix), key=itemgetter(0)):
            lines += [f"{inline(launcher)}:", *_fenced([line for _, line in pasted])]
        lines += [f"- {label}{say(': ')}{inline(text)}" for label, text in digest.fix_notes(fix)] + [""]
    for text in not_offered:
        lines += [f"**{say('Does not help')}**{say(': ')}{inline(text)}", ""]
    explained = digest.consequences(report, finding)
    if explained:
        lines += [
            lead_in("Explains").rstrip(),
            *(f"- {inline(f'{item.name}: {item.title}')}" for item in explained),
            "",
        ]
    lines += [f"- {_reference(reference)}" for reference in finding.references]
    return [*lines, ""]


def _reference(text: str) -> str:
    """A link if it is a web address, else text."""
    return f"<{one_line(text).replace('>', '%3E')}>" if text.startswith(("https://", "http://")) else inline(text)


def _evidence(source: str, line: int, text: str) -> str:
    return f"{source}:{line}: {text}" if line else f"{source}: {text}"


def inline(text: str) -> str:
    """Text of the input within other text: characters with a meaning in Markdown or on a forge are escaped."""
    return _SPECIAL.sub(r"\\\g<0>", one_line(text)).replace("@", "&#64;").replace("://", "&#58;//")


def _fenced(lines: list[str]) -> list[str]:
    """A code block whose fence is longer than any run of backticks in it."""
    lines = [one_line(line) for line in lines]
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return ["", f"{fence}text", *lines, fence, ""]
