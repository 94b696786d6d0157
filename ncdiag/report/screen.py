"""The first screen: verdict, cause, place, the decisive lines, the line to paste, and last the next step.

It fits on a terminal of 80 x 24 with the prompt below it. If it does not fit, pieces are omitted, least useful first;
``--verbose`` prints the whole report.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.language import cells, counted, lead_in, say
from ncdiag.report import digest, labelled, restart
from ncdiag.report.isolating import is_test
from ncdiag.report.model import Evidence, Finding, Fix, NextStep, Report, Suspect
from ncdiag.report.next_steps import leading, worth_showing
from ncdiag.report.page import COLOURS, Page
from ncdiag.report.sanitize import one_line

ROWS = 23
"""Rows of a 24-row terminal that are left above the prompt."""
PASTED = 3
"""Maximum number of lines to paste of one fix."""
FIX_ROWS = 8
"""Maximum number of rows of a fix: it is not cut to make room for less important lines."""
SUSPECTS = 3
FEW = 3
"""Maximum number of hosts whose whole table is shown above the answer."""
SHOWN = 10
"""Maximum number of differences between few hosts shown above the answer."""
OF_MANY = ((10, 8, 2), (6, 6, 5), (2, 6, 7), (0, 6, 7), (0, 5, 7), (0, 4, 7), (0, 3, 7), (0, 2, 7), (0, 1, 7))
"""(differences between many hosts, failed checks, shortness of the answer that they may cause), see `_Layout`."""
SILENT = 3
"""Maximum number of reasons shown why hosts did not answer."""
_RAGGED = 8
"""Columns that a row loses on average, because words are not broken."""
USUAL = 80
"""Narrower pages get more rows for evidence, so that its content is not lost."""
OTHERS = 3
"""Maximum number of further findings whose titles are shown."""
ODD = 3
"""Maximum number of notes on the inputs shown."""
NOTES = 2
"""Maximum number of notes shown if there is nothing else."""
_SENTENCE = lazy_regex(r"(?<=[.!?]) (?=[A-Z])|(?<=[。！？])")
_INSIDE = lazy_regex(r"(?:the|all|each|both|this) (?!.*\b(?:hosts?|nodes?|servers?|machines?)\b)")
"""Where a fix is applied that is no host: "in the program", but "on all hosts"."""
_NOTE = lazy_regex(r" \(|（")
"""The start of the command after the text that says what it shows."""
_HEADLINES = {
    "root-cause": "ROOT CAUSE",
    "failed-cause-not-here": "SOMETHING IS WRONG, but its cause is not in this input",
    "complaint-nothing-seen": "NOT ENOUGH INFORMATION: the problem that you describe does not appear in this input",
    "risk-only": "NO FAILURE FOUND, but there is a risk",
    "healthy-as-far-as-seen": "NO FAULT FOUND in this input",
    "nothing-understood": "NOTHING IN THIS INPUT WAS RECOGNISED",
}

_WORDS_ALONE = "NOT ENOUGH INFORMATION: the input has words about a job, and no line of a log or a tool was recognised"
"""The headline above suspects that rest on words."""


def lay_out(page: Page, report: Report) -> None:
    """Put the answer on the page, as complete as it fits, below the table of checks if there is one.

    For many hosts the table does not fit: a few lines say what is wrong, and in what they differ.
    """
    many = _are_many(report)
    for most, failed, levels in OF_MANY if many else ((0, 0, _Layout.LAST),):
        above = _of_many(page.width, report, most, failed) if many else _looks(page.width, report)
        for level in range(levels + 1):
            made = Page(page.width)
            _Layout(made, report, level).put()
            page.lines = [*above.lines, *made.lines]
            if made.rows + (above.rows if many else 0) <= ROWS:
                return


def _are_many(report: Report) -> bool:
    """True if the table of checks is of too many hosts to be shown."""
    return max((look.nhosts for look in report.looks), default=0) > FEW


def _looks(width: int, report: Report) -> Page:
    """The lines of the table and of the differences; the answer gets the rest of the terminal."""
    page = Page(width)
    if report.looks:
        from ncdiag.report import compared, table  # most reports have none

        table.write(page, report, skipped=False)
        compared.write_short(page, report, SHOWN)
        page.blank()
    return page


def _of_many(width: int, report: Report, most: int, failed: int) -> Page:
    """Which of many hosts did not answer, failed a check, or differ: at most ``failed`` checks and ``most`` lines."""
    from ncdiag.report import compared, table

    page = Page(width)
    page.line(table.counts(report), first=lead_in("Checks"))
    reasons = table.unanswered(report)
    for hosts, why in reasons[:SILENT]:
        page.line(say("{label}: {text}", label=hosts, text=one_line(why)), "bold red", first=lead_in("No answer"))
    if len(reasons) > SILENT:
        page.line(say("{n} more, with -v", n=len(reasons) - SILENT), first=lead_in("No answer"))
    rows = table.failed(report)
    for row in rows[:failed]:
        text = say("{label}: {text}", label=row.what, text=row.text) if row.what else row.text
        page.line(digest.cut(one_line(text), width - 12), table.STYLES[row.status], first=f"  {row.status}  ")
    if len(rows) > failed:
        page.line(say("{n} more, with -v", n=len(rows) - failed), first="        ")
    compared.write_short(page, report, most)
    page.blank()
    return page


class _Layout:
    """The screen at a level of shortness; 0 omits nothing."""

    ONE_EVIDENCE, SHORT_NEXT, NO_WHY, SHORT_EVIDENCE, SHORT_FIX, NO_NOTES, LAST = range(1, 8)

    def __init__(self, page: Page, report: Report, level: int) -> None:
        self.page, self.report, self.level = page, report, level

    def put(self) -> None:
        """The blocks from top to bottom."""
        lead = leading(self.report)
        self._verdict(lead)
        if lead is not None:
            self._finding(lead)
        elif worth_showing(self.report):
            self._suspects()
        else:
            for note in self.report.findings[:NOTES]:
                self._sentence(note.title, 2, first="  " + lead_in("Note"), rest="    ")
        self._notes(lead)
        self._next()

    def _blank(self) -> None:
        if self.level < self.LAST:
            self.page.blank()

    def _sentence(self, text: str, rows: int, *, first: str = "  ", style: str = "", rest: str = "  ") -> None:
        """A text of at most ``rows`` rows."""
        room = rows * (self.page.width - cells.width(rest) - _RAGGED) - cells.width(first) + cells.width(rest)
        self.page.put(digest.cut(one_line(text), max(room, 60)), style, first=first, rest=rest)

    def _verdict(self, lead: Finding | None) -> None:
        verdict = self.report.summary.verdict
        guessed = verdict == "nothing-understood" and self.report.suspects
        text = say(_WORDS_ALONE if guessed else _HEADLINES[verdict])
        if verdict == "root-cause" and lead is not None and lead.confidence != "certain":
            text = say("{text} ({note})", text=text, note=say(lead.confidence))
        self.page.put(text, COLOURS[lead.severity] if lead is not None else "bold")
        if lead is None or (lead.role != "cause" and self.report.suspects):
            for line in digest.complained(self.report)[:2]:
                self._sentence(line, 2, rest="    ")

    def _finding(self, lead: Finding) -> None:
        self._sentence(lead.title, 3, style="bold")
        where = digest.where(lead, self.report)
        label = f"[{digest.label(lead)}]"
        if where and len(where) + len(label) + 4 > self.page.width:
            self.page.line(where, "dim", first="  ")
            where = ""
        self.page.put(f"{f'{where}  ' if where else ''}{label}", "dim", first="  ")
        if lead.why and self.level < self.NO_WHY:
            self._sentence(_SENTENCE.split(lead.why, maxsplit=1)[0], 2)
        evidence = digest.telling(lead)[: 1 if self.level >= self.ONE_EVIDENCE else 2]
        if evidence:
            self._blank()
        for item in evidence:
            self._evidence(item)
        fixes, not_offered = digest.remedies(self.report, lead)
        if fixes:
            self._blank()
            self._fix(fixes[0], say("Fix") if lead.role == "cause" else say("Do"), suspected=lead.role != "cause")
            self._way_round(fixes)
        elif not_offered:
            self._blank()
            self._sentence(not_offered[0], 2, first=lead_in("Does not help"))
        if lead.role != "cause" and self.report.suspects:
            first = self.report.suspects[0]
            text = f"{first.title} [{say(first.likelihood)}: {first.name}, {first.code}]"
            self._sentence(text, 2, first=lead_in("Suspected"))

    def _evidence(self, item: Evidence) -> None:
        self.page.line(digest.place(item), "dim", first="  ")
        rows = 1 if self.level >= self.SHORT_EVIDENCE else 2
        if self.page.width < USUAL:
            rows = 2 * USUAL // self.page.width + 1
        self._sentence(item.text, rows, first="  | ", rest="  | ")

    def _fix(self, fix: Fix, label: str, *, suspected: bool = True) -> None:
        proof = digest.proof_label(fix, suspected=suspected)
        scope = digest.fix_scope(fix)
        where = say("in {scope}", scope=scope) if _INSIDE.match(scope) else say("on {scope}", scope=scope)
        notes = [where] if scope else []
        notes += [say(proof.lower())] if proof in digest.TRIED else []
        if fix.workaround:  # first, so that nothing comes before the warning
            label = say("{text} ({note})", text=label, note=say("a workaround that hides the fault"))
        text = fix.text.removesuffix(".").removesuffix("。")
        for note in notes:
            text = say("{text} ({note})", text=text, note=note)
        self._sentence(text, FIX_ROWS, first=f"{label}{say(': ')}")
        for line in _to_paste(fix):
            self.page.verbatim(line, "green", first="    ")

    def _way_round(self, fixes: Sequence[Fix]) -> None:
        """Another release or machine is not at hand at once: the first way round with a line to paste, beside it."""
        if fixes[0].workaround or fixes[0].env or fixes[0].unset or self.level >= self.SHORT_FIX:
            return
        other = next((fix for fix in fixes[1:] if fix.workaround and (fix.env or fix.unset) and not is_test(fix)), None)
        if other is not None:
            text = other.text.removesuffix(".").removesuffix("。")
            lines = _to_paste(other)[:1]
            whole = say("{label}: {text}", label=text, text=lines[0]) if lines else text
            fits = cells.width(whole) + _RAGGED < 2 * self.page.width
            self._sentence(whole if fits else text, 2, rest="    ")
            for line in () if fits else lines:
                self.page.verbatim(line, "green", first="    ")

    def _suspects(self) -> None:
        self.page.put(digest.suspects_title(self.report), "bold")
        shown = worth_showing(self.report)[: 1 if self.level >= self.SHORT_FIX else SUSPECTS]
        for number, suspect in enumerate(shown, 1):
            self._suspect(number, suspect)
        fixes = shown[0].fixes
        if fixes:
            self._blank()
            self._fix(fixes[0], say("If the first is the cause") if len(shown) > 1 else say("If this is the cause"))

    def _suspect(self, number: int, suspect: Suspect) -> None:
        self._sentence(
            f"{suspect.title} [{digest.how_likely(suspect)}]", 2, first=f"  {number}. ", rest="     ", style="bold"
        )
        self.page.line(f"{suspect.name}, {suspect.code}", "dim", first="     ")
        for sign in suspect.supporting[: 2 if number == 1 and self.level < self.NO_WHY else 1]:
            rows = 1 if self.level >= self.ONE_EVIDENCE else 2
            self._sentence(digest.with_place(sign), rows, first=f"     {say('because')} ", rest="       ")

    def _notes(self, lead: Finding | None) -> None:
        """One line for each other thing of interest."""
        self._blank()
        told = self.report.findings[:NOTES] if lead is None and not worth_showing(self.report) else (lead,)
        shown = {found.name for found in told if found is not None}
        if _are_many(self.report):  # each is a line above
            from ncdiag.report.table import UNANSWERED

            shown |= {UNANSWERED, *(name for look in self.report.looks for name in look.findings)}
        self._others([f for f in digest.roots(self.report) if f not in told and f.name not in shown])
        self._list(self.report.expired, say("No longer ignored"))
        for fault in self.report.faults[:1]:
            self.page.line(digest.failed(fault), first=lead_in("NCDIAG FAILED"))
        if self.report.restart is not None and self.level < self.NO_NOTES:
            self.page.line(restart.sentence(self.report.restart), first=lead_in("Restart"))
        for label, text in labelled.lines(self.report, short=True):
            self._sentence(text, 2, first=f"{label}{say(': ')}", rest="    ")
            if self.level >= self.ONE_EVIDENCE:
                break
        read = lead_in("Read")
        room = self.page.width - cells.width(read)
        text = _read(self.report, room)
        both = say("; ").join([text, *(note for item in self.report.inputs for note in item.notes)])
        fits = cells.width(both) <= room or self.report.window is None
        self.page.line(both if fits else text, first=read)
        if not fits:
            self._odd(cells.width(read))
        self._list([_NOTE.split(text, maxsplit=1)[0] for text in self.report.summary.not_looked_at], say("Not checked"))
        references = lead.references if lead is not None and self.level < self.NO_NOTES else ()
        see = lead_in("See")
        fitting = next((each for each in references if len(each) + cells.width(see) <= self.page.width), None)
        if references:
            self.page.line(fitting or counted(len(references), "reference"), first=see)

    def _odd(self, indent: int) -> None:
        """What was odd about the inputs, such as stamps that go back: where a window decides what is read, in full."""
        inputs, blanks = self.report.inputs, " " * indent
        notes: dict[str, list[str]] = {}
        for item in inputs:
            for note in item.notes:
                notes.setdefault(note, []).append(item.source.rsplit("/", 1)[-1])
        for note, sources in [*notes.items()][:ODD]:
            named = sources[0] if len(sources) == 1 else counted(len(sources), "input")
            text = say("{label}: {text}", label=named, text=note) if len(inputs) > 1 else note
            self._sentence(text, 3, first=blanks, rest=f"{blanks}  ")
        if len(notes) > ODD:
            self.page.line(say("{n} more, with -v", n=len(notes) - ODD), first=blanks)

    def _others(self, others: Sequence[Finding]) -> None:
        """The titles of further findings, a line each, and the number of the rest after the last."""
        titles = [*dict.fromkeys(one_line(found.title) for found in others)]
        shown = titles[: 1 if self.level >= self.ONE_EVIDENCE else OTHERS]
        rest = say("{names} and {n} more", names="", n=len(titles) - len(shown)) if len(titles) > len(shown) else ""
        label = f"{say('Also found')}{say(': ')}"
        for number, title in enumerate(shown, 1):
            more = rest if number == len(shown) else ""
            text = digest.cut(title, self.page.width - cells.width(label) - cells.width(more) - 4)
            self.page.line(text + more, first=label if number == 1 else " " * cells.width(label))

    def _list(self, names: Sequence[str], label: str) -> None:
        """As many of the names as fit on a line, and the number of the rest; nothing if there are none."""
        comma, label, shown = say(", "), f"{label}{say(': ')}", 0
        room = self.page.width - cells.width(label) - cells.width(say("{names} and {n} more", names="", n=99))
        while shown < len(names) and cells.width(comma.join(names[: shown + 1])) <= room:
            shown += 1
        shown = shown or 1
        text, more = comma.join(names[:shown]), len(names) - shown
        if names:
            self.page.line(say("{names} and {n} more", names=text, n=more) if more > 0 else text, first=label)

    def _next(self) -> None:
        self._blank()
        short, label = self.level >= self.SHORT_NEXT, lead_in("Next")
        blanks = " " * cells.width(label)
        steps = self.report.next_steps[: 2 if short else None]
        for number, step in enumerate(steps):
            text = _step(step, self.page.width if short else 0)
            self._sentence(text, 2, first=blanks if number else label, rest=f"{blanks}  ")
        self.page.line(say("add -v for the full report"), first=blanks if steps else label)


def _to_paste(fix: Fix) -> list[str]:
    """The line for the first launcher, and commands for a shell."""
    lines = digest.paste_lines(fix)
    first = lines[0][0] if lines else ""
    return [line for launcher, line in lines if launcher in {first, "shell"}][:PASTED]


def _read(report: Report, room: int) -> str:
    """``gpu-a01, 2 ranks, NCCL 2.7.8; nccl.log, 20 lines (2 not understood)``; of a long path the name alone."""
    inputs = report.inputs
    named = inputs[0].source if len(inputs) == 1 else counted(len(inputs), "input")
    lines, unread = sum(item.lines for item in inputs), sum(item.unread_lines for item in inputs)
    length = say(", ").join([named, *([counted(lines, "line")] if lines else [])])
    if unread:
        length = say("{text} ({note})", text=length, note=say("{n} not recognised", n=unread))
    text = say("; ").join(filter(None, [digest.job_read(report), length]))
    return text if cells.width(text) <= room else text.replace(named, named.rsplit("/", 1)[-1], 1)


def _step(step: NextStep, width: int) -> str:
    """What to do; its purpose is left out if both together are wider than the page, unless ``width`` is 0."""
    if not step.run:
        return step.text
    if step.do == "run":
        return say("{label}: {text}", label=step.run, text=step.text)
    command = digest.pasted((step.run,))
    text = say("{text} ({note})", text=command, note=step.text) if step.text else command
    return command if width and cells.width(text) > width - len("Next: ") else text
