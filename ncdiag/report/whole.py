"""The whole report for a person at a terminal, as ``--verbose`` prints it."""

from __future__ import annotations

import textwrap

from ncdiag.language import cells, lead_in, say
from ncdiag.report import digest, labelled, restart
from ncdiag.report.model import Finding, Report
from ncdiag.report.page import COLOURS, Page
from ncdiag.report.sanitize import one_line

TITLE_LIMIT = 400
SHOWN_SIGNS = 4
SHOWN_FINDINGS, SHOWN_CONSEQUENCES, SHOWN_EVIDENCE = 5, 4, 3
"""Maximum numbers shown to a person; JSON has all."""


def lay_out(page: Page, report: Report) -> None:
    """Put the whole report on the page."""
    _head(page, report)
    _findings(page, report)
    _timeline(page, report)
    if report.looks:
        from ncdiag.report import compared, table  # most reports have none

        table.write(page, report)
        compared.write(page, report)
    _tail(page, report)


def _head(page: Page, report: Report) -> None:
    read = f"{say('Read')}  "
    for index, line in enumerate(digest.was_read(report)):
        page.put(line, first=" " * cells.width(read) if index else read, lead="bold")
    page.blank()
    page.put(digest.headline(report).upper(), COLOURS[report.findings[0].severity] if report.findings else "bold")
    for line in digest.complained(report):
        page.put(line, first="  ", rest="    ")
    for label, text in labelled.lines(report, most=20):
        page.put(text, first=f"  {label}{say(': ')}", rest="    ", lead="bold")
    if digest.complained(report) and report.findings:
        page.blank()
    if report.summary.verdict == "nothing-understood":
        page.put(labelled.help_when_nothing(report), first="  ")


def _suspects(page: Page, report: Report) -> None:
    """The likely causes, with the signs for and against them, and what would settle them."""
    for number, suspect in enumerate(report.suspects, 1):
        if number == 1:
            page.put(digest.suspects_title(report).upper(), "bold")
        page.put(f"{digest.suspected(suspect)}", "bold", first=f"  {number}. ")
        rows = [("for", digest.with_place(sign)) for sign in suspect.supporting[:SHOWN_SIGNS]]
        rows += [("against", digest.with_place(sign)) for sign in suspect.against[:SHOWN_SIGNS]]
        rows += [("open", text) for text in suspect.open[:1]]
        rows += [("decide", digest.question(each)) for each in suspect.decide[:1]]
        for label, text in rows:
            page.put(text, first=f"       {cells.pad(say(label), 8)} ", rest=" " * 16, lead="dim")
        for fix in suspect.fixes[: 2 if number == 1 else 1]:
            page.put(
                digest.fix_in_short(fix, suspected=True),
                first=f"       {cells.pad(say('fix'), 8)} ",
                rest=" " * 16,
                lead="dim",
            )
            for launcher, line in digest.paste_lines(fix)[:1]:
                page.verbatim(line, "green", first=f"         {one_line(launcher)}  ")
        page.blank()


def _findings(page: Page, report: Report) -> None:
    found = digest.roots(report) or list(report.findings[:1])
    first = digest.suspects_lead(report)
    if first:
        _suspects(page, report)
    if found:
        _leading(page, report, found[0])
    if not first:
        _suspects(page, report)
    others = found[1:]
    shown = [finding for finding in others if finding.severity != "info"][: SHOWN_FINDINGS - 1]
    if others:
        page.put(say("ALSO FOUND"), "bold")
    for finding in shown:
        _other(page, report, finding)
        page.blank()
    names = [finding.name for finding in others if finding not in shown]
    if names:
        text = digest.cut(", ".join(names), digest.LIST_LIMIT)
        text = say("and {n} more: {names}", n=len(names), names=text) if shown else text
        page.put(say("{text} ({note})", text=text, note=say("--format json lists all")), first="  ")


def _leading(page: Page, report: Report, finding: Finding) -> None:
    """The first finding, with all its details."""
    _title(page, report, finding)
    if finding.why:
        page.blank()
        page.put(finding.why, first="  ")
    if finding.evidence:
        page.blank()
        page.put(say("Evidence"), "bold", first="  ")
        shown = digest.telling(finding)[:SHOWN_EVIDENCE]
        for item in shown:
            page.put(digest.place(item), "dim", first="    ")
            page.put(item.text, first="    | ", rest="    | ", lead="dim")
        if digest.more_evidence(finding, len(shown)):
            page.put(digest.more_evidence(finding, len(shown)), first="    ")
    _fixes(page, report, finding)
    _consequences(page, report, finding)
    for reference in finding.references:
        page.verbatim(reference, "dim", first=f"  {say('See')} ")
    page.blank()


def _title(page: Page, report: Report, finding: Finding) -> None:
    page.put(digest.label(finding), COLOURS[finding.severity], first="  ")
    page.put(digest.cut(finding.title, TITLE_LIMIT), "bold", first="  ")
    if digest.where(finding, report):
        page.put(digest.where(finding, report), first="  ")


def _other(page: Page, report: Report, finding: Finding) -> None:
    """Another finding in a few lines: title, place, a line that shows it, what to do."""
    _title(page, report, finding)
    for item in finding.evidence[:1]:
        more, place = digest.more_evidence(finding, 1), digest.place(item)
        page.put(say("{text} ({note})", text=place, note=more) if more else place, "dim", first="    ")
        page.put(
            textwrap.shorten(item.text, 2 * page.width, placeholder=" ..."), first="    | ", rest="    | ", lead="dim"
        )
    fixes, not_offered = digest.remedies(report, finding)
    if len(fixes) < len(finding.fixes):
        page.put(say("as above"), first="    " + lead_in("Fix"), lead="bold")
    for fix in fixes[:1]:
        page.put(digest.fix_in_short(fix), first="    " + lead_in("Fix"), rest="      ", lead="bold")
        for launcher, line in digest.paste_lines(fix)[:1]:
            page.verbatim(line, "green", first=f"      {one_line(launcher)}  ")
    for text in not_offered[:1]:
        page.put(text, first="    " + lead_in("Does not help"), rest="      ", lead="bold")


def _fixes(page: Page, report: Report, finding: Finding) -> None:
    fixes, not_offered = digest.remedies(report, finding)
    if len(fixes) < len(finding.fixes):
        page.blank()
        page.put(say("as above"), first="  " + lead_in("Fix"), lead="bold")
    for fix in fixes:
        page.blank()
        page.put(digest.fix_title(fix), first="  " + lead_in("Fix"), rest="    ", lead="bold")
        lines = digest.paste_lines(fix)
        widest = max((len(launcher) for launcher, _ in lines), default=0)
        for launcher, line in lines:
            page.verbatim(line, "green", first=f"    {one_line(launcher):{widest}}  ")
        for label, text in digest.fix_notes(fix):
            page.put(text, first=f"    {label}{say(': ')}", rest="      ", lead="bold")
    for text in not_offered:
        page.blank()
        page.put(text, first="  " + lead_in("Does not help"), rest="    ", lead="bold")


def _consequences(page: Page, report: Report, finding: Finding) -> None:
    found = digest.consequences(report, finding)
    if not found:
        return
    page.blank()
    page.put(say("Explains"), "bold", first="  ")
    for item in found[:SHOWN_CONSEQUENCES]:
        text = say("{label}: {text}", label=item.name, text=item.title)
        page.put(digest.cut(text, TITLE_LIMIT // 2), first="    ", rest="      ")
    if len(found) > SHOWN_CONSEQUENCES:
        page.put(say("and {n} more", n=len(found) - SHOWN_CONSEQUENCES), first="    ")


def _timeline(page: Page, report: Report) -> None:
    lines = digest.first_to_fail(report)
    if not lines:
        return
    page.blank()
    page.put(say("FIRST TO FAIL"), "bold")
    widest = max(cells.width(label) for label, _ in lines)
    for label, text in lines:
        page.put(text, first=f"  {cells.pad(label, widest)}  ", lead="dim")


def _tail(page: Page, report: Report) -> None:
    page.blank()
    if report.unknown:
        page.put(say("MORE INPUT NEEDED"), "bold")
        for unknown in report.unknown[: digest.SHOWN_ASKS]:
            page.put(digest.ask(unknown), first="  ", rest="    ")
        page.blank()
    for conflict in report.conflicts[: digest.SHOWN_ASKS]:
        page.put(digest.disagreement(conflict), first=lead_in("Sources disagree"), rest="  ", lead="bold")
    for text in report.expired:
        page.put(text, first=lead_in("No longer ignored"), rest="  ", lead="bold")
    for fault in report.faults:
        page.put(digest.failed(fault), first=lead_in("NCDIAG FAILED"), rest="  ", lead="bold")
    if report.ruled_out:
        page.put(digest.ruled_out(report), first=lead_in("Ruled out"), rest="  ", lead="bold")
    if report.restart is not None:
        page.put(restart.sentence(report.restart), first=lead_in("Restart"), rest="  ", lead="bold")
    if report.summary.not_looked_at:
        text = say("; ").join(report.summary.not_looked_at)
        page.put(text, first=lead_in("Not checked"), rest="  ", lead="bold")
    if digest.not_understood(report):
        page.put(digest.not_understood(report), "dim")
