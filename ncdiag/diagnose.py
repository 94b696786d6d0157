"""The whole pipeline: read, cut into sections, parse, merge, judge, fix, report."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ncdiag import catalogue
from ncdiag.base.errors import UsageError
from ncdiag.engine.causes import conclude, overall, root_cause, without_mentioned
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.results import Finding, Verdict
from ncdiag.engine.schema import Rule
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Job
from ncdiag.facts.observe import not_declared
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.hosts import unanswered
from ncdiag.facts.vocabulary.outcome import is_past
from ncdiag.facts.vocabulary.probes import gaps
from ncdiag.facts.vocabulary.troubled_hosts import troubled_hosts
from ncdiag.fixes.values import Values
from ncdiag.formats.mentions import is_mention
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.language import ENGLISH, speaking
from ncdiag.nccl import environment
from ncdiag.report import build, model, period
from ncdiag.report.differences import Beside
from ncdiag.report.hidden import hidden
from ncdiag.report.localised import localised
from ncdiag.report.next_steps import next_steps
from ncdiag.suspects.cells import Lit
from ncdiag.suspects.choose import Suspected, decided, is_troubled, noted, set_aside
from ncdiag.suspects.weigh import Scales
from ncdiag.suspects.wording import Wording
from ncdiag.text import (
    Case,
    Changed,
    Item,
    Look,
    Progress,
    Reading,
    Stop,
    TextSource,
    Unreadable,
    Window,
    Windowed,
    given,
    names_written,
    read_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncdiag.comparing.beside import Judged
    from ncdiag.comparing.sweep import Swept

    Lines = Callable[[Judged, Judged], tuple[period.Changed, ...] | None]


class Baseline(msgspec.Struct, frozen=True):
    """A saved state to compare with: its source, and its content."""

    source: str
    case: Case


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The user's options for the diagnosis. ``select`` and ``ignore`` hold codes or names of rules.

    ``answers``: answers to the questions that separate suspects, by the key of the question. ``left_out`` are phrases
    for the report on rules ignored by the configuration, ``expired`` sentences on exceptions that have ended.
    ``table``: report every observation of the machines, and compare them; ``launch``: report the steps of a launch
    instead. ``baseline``: a state to compare with. ``language``: of the texts of the report
    (`ncdiag.language.LANGUAGES`). ``show_secrets``: quote lines of the input with the secrets in them. ``window``: of
    logs, read only the lines in this window of time.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    nccl: str | None = None
    rules: tuple[Path, ...] = ()
    answers: Mapping[str, bool] = {}
    table: bool = False
    launch: bool = False
    expired: tuple[str, ...] = ()
    baseline: Baseline | None = None
    language: str = ENGLISH
    show_secrets: bool = False
    window: Window | None = None


DEFAULTS = Options()


def diagnose(
    items: Iterable[Item], options: Options = DEFAULTS, *, progress: Progress | None = None, stop: Stop | None = None
) -> model.Report:
    """Diagnose texts and inspected machines as one case and return the report; `read_all` reads the items.

    An item that could not be read becomes a note. Raises UsageError if the options name an unknown rule or NCCL
    release.
    """
    return diagnosed(items, options, progress=progress, stop=stop).report


class Diagnosed(NamedTuple):
    """A report with its basis: what was read, and the facts in it."""

    report: model.Report
    case: Case
    view: View


def diagnosed(
    items: Iterable[Item], options: Options = DEFAULTS, *, progress: Progress | None = None, stop: Stop | None = None
) -> Diagnosed:
    """Like `diagnose`, but with the facts, for output formats that show more than the report."""
    with speaking(options.language):
        rules = rules_for(options)
        case = read_all(items, progress=progress, stop=stop, window=options.window)
        view, report = judged(case, rules, options)
        return Diagnosed(written(report, case, options), case, view)


def written(report: model.Report, case: Case, options: Options) -> model.Report:
    """The report on a case as it may be written: in the language of the answer, without the secrets of the input."""
    report = localised(report)
    return report if options.show_secrets else hidden(report, hiding_of(case))


def hiding_of(*cases: Case) -> Hiding:
    """What hides the secrets of cases."""
    return Hiding(span.text for case in cases for span in case.written())


def judged(case: Case, rules: Sequence[Rule], options: Options) -> tuple[View, model.Report]:
    """The facts of a case, and the report on it."""
    view = view_of(case.job(), options.nccl)
    compared = None
    if options.table:
        view = view_of(_of_answers(view.job), options.nccl)
        compared = _swept(view)
        if compared is not None and compared.odd:
            view = view_of(msgspec.structs.replace(view.job, events=(*view.job.events, *compared.odd)), options.nccl)
    elif troubled_hosts(view):
        from ncdiag.comparing import followed  # few pastes need it

        view = view_of(msgspec.structs.replace(view.job, events=followed.events(view)), options.nccl)
    values = Values(view, rules)
    looked = [_looked(look) for look in case.looks]
    understood = any(each.has_facts for each in looked)
    understood = understood or any(reading.observations or reading.mentioned for reading in case.readings)
    verdicts = judge_all(rules, view, values)
    if compared is not None:
        verdicts = compared.new(verdicts)
    diagnosis = without_mentioned(conclude(verdicts, view, understood=understood), case.mentioned)
    suspected: tuple[Suspected, ...] = ()
    lit: Mapping[str, Lit] = {}
    # a pasted text suggests a problem; the inspection of a machine does not
    if case.texts or is_troubled(diagnosis.findings, view):
        scales = scales_of(case, view, diagnosis.findings, verdicts, options.answers)
        found = decided(rules, diagnosis.findings, scales, view)
        suspected, lit = found.suspected, scales.lit
        diagnosis = msgspec.structs.replace(
            diagnosis, findings=found.findings, answers=found.answers,
            excluded=(*diagnosis.excluded, *set_aside(scales)), faults=(*diagnosis.faults, *scales.faults),
            verdict=overall(found.findings, view, understood=understood, suspected=found.is_suspected),
            root_cause=None if found.is_suspected else root_cause(found.findings),
        )  # fmt: skip
    diagnosis = msgspec.structs.replace(diagnosis, faults=(*diagnosis.faults, *view.faults))
    read = msgspec.structs.replace(_read(case, looked, view.job, options), lit=lit)
    values.rest_of, values.names = read.rest_of, names_written(case.readings)
    report = build.report(diagnosis, suspected, view, values, read)
    report = msgspec.structs.replace(report, expired=options.expired)
    if not (options.table or options.launch):
        return view, report
    from ncdiag.checks.book import book, launch_book
    from ncdiag.report.checked import table, with_actions  # most commands inspect no machine

    looks = launch_book() if options.launch else book()
    rows = table(view, verdicts, diagnosis.findings, _not_seen(looked), looks)
    report = msgspec.structs.replace(report, looks=with_actions(rows, report.findings))
    if compared is not None:
        report = msgspec.structs.replace(report, comparison=compared.found.different, alike=compared.found.alike)
    if options.baseline is not None:
        report = msgspec.structs.replace(report, baseline=_beside(options.baseline, view))
    return view, msgspec.structs.replace(report, next_steps=next_steps(report))


def _of_answers(job: Job) -> Job:
    """The job without hosts that a sweep asked in vain: nothing is known of them, which would leave all rules open."""
    silent = unanswered(job)
    return msgspec.structs.replace(job, hosts=tuple(host for host in job.hosts if host.name not in silent))


def _swept(view: View) -> Swept | None:
    """The comparison of the hosts; None for fewer than two."""
    if len(view.hosts) < 2:  # noqa: PLR2004
        return None
    from ncdiag.comparing.sweep import swept  # most commands inspect no machine

    return swept(view)


def _beside(saved: Baseline, view: View) -> Beside:
    """The differences from a saved state."""
    from ncdiag.comparing import beside
    from ncdiag.comparing.values import of_hosts

    return beside.baseline(saved.source, view_of(saved.case.job()), of_hosts(view), view)


def difference(
    before: tuple[str, Case], after: tuple[str, Case], options: Options = DEFAULTS, lines: Lines | None = None
) -> model.Difference:  # fmt: skip
    """The differences between two named inputs; both are diagnosed. ``lines`` compares the lines at their ends."""
    from ncdiag.comparing import beside

    rules = rules_for(options)
    (old, was), (new, now) = (judged(case, rules, options) for _, case in (before, after))
    sides = beside.Judged(before[0], old, was), beside.Judged(after[0], new, now)
    found = msgspec.structs.replace(beside.difference(*sides), lines=None if lines is None else lines(*sides))
    return found if options.show_secrets else hidden(found, hiding_of(before[1], after[1]))


class _Looked(NamedTuple):
    """An inspected machine with its observations, computed once because they are expensive for a thousand hosts."""

    look: Look
    hosts: Collection[str]
    has_facts: bool
    faults: tuple[str, ...]


def _looked(look: Look) -> _Looked:
    seen = look.observations()
    return _Looked(look, {o.host for o in seen if o.host is not None}, bool(seen), not_declared(seen))


def _not_seen(looked: Iterable[_Looked]) -> dict[str, list[str]]:
    """Phrases on what could not be observed, by inspected host."""
    found: dict[str, list[str]] = {}
    for each in looked:
        for host in each.hosts:
            found.setdefault(host, []).extend(each.look.not_seen())
    return found


def look(text: str) -> tuple[View, Wording]:
    """The facts of a pasted text as rules read them, and its words."""
    case = read_all([TextSource.of_bytes("paste", text.encode())])
    view = view_of(case.job())
    return view, wording(case, view)


def scales_of(
    case: Case,
    view: View,
    findings: Iterable[Finding],
    verdicts: Iterable[Verdict],
    answers: Mapping[str, bool] | None = None,
) -> Scales:
    """The scores of the suspects of a case, from its facts, findings, verdicts and answers."""
    return Scales(view, wording(case, view, findings), verdicts, answers, catalogue.texts())


def wording(case: Case, view: View, findings: Iterable[Finding] = ()) -> Wording:
    """The lines in which signs search for words, without lines on harmless or recovered problems and mere mentions.

    Lines that a rule judged to be notes are left out too.
    """
    words = Wording(case.written(), catalogue.shared())
    passing = [event for event in view.job.events if event.kind == "harmless" or is_past(event, view)]
    passing += noted(findings)
    words.leave_out(event.provenance[""] for event in passing if "" in event.provenance)
    mentioned = case.mentioned if view.job.events or view.job.ranks else ()
    words.leave_out(span for span in case.written() if (span.source, span.line) in mentioned or is_mention(span.text))
    return words


def view_of(job: Job, nccl: str | None = None) -> View:
    """The facts of the job as rules read them; ``nccl`` is the version to assume if the input does not say it."""
    if nccl is not None:
        version = VersionRange.exact(nccl)
        if version is None:
            msg = f"{nccl!r} is not an NCCL version (example: 2.18.3)"
            raise UsageError(msg)
        known = any(h.nccl_version for h in job.hosts) or any(
            r.nccl_version and r.nccl_version.known for r in job.ranks
        )
        if not known:
            hosts = tuple(msgspec.structs.replace(h, nccl_version=version) for h in job.hosts)
            ranks = tuple(msgspec.structs.replace(r, nccl_version=version) for r in job.ranks)
            job = msgspec.structs.replace(job, hosts=hosts, ranks=ranks)
    return View(job, environment.resolve_fields)


def rules_for(options: Options) -> tuple[Rule, ...]:
    """The rules that the options select, with their texts in the language of the options."""
    return catalogue.localised(selected(catalogue.rules(options.rules), options), options.language, options.rules)


def selected(rules: Iterable[Rule], options: Options) -> tuple[Rule, ...]:
    """The rules to judge. Raises UsageError for an unknown code or name."""
    rules = tuple(rules)
    known = {word for rule in rules for word in (rule.code, rule.name, *rule.formerly)}
    for word in (*options.select, *options.ignore):
        if word not in known:
            msg = f"there is no rule {word!r}; `ncdiag rules list` lists all rules"
            raise UsageError(msg)
    if not options.select and not options.ignore:
        return rules

    def named(rule: Rule, words: Sequence[str]) -> bool:
        return bool({rule.code, rule.name, *rule.formerly} & set(words))

    return tuple(r for r in rules if (not options.select or named(r, options.select)) and not named(r, options.ignore))


def _read(case: Case, looked: Sequence[_Looked], job: Job, options: Options) -> build.Read:
    """The list of inputs for the report, machines first."""
    complete = {host.name: host.complete for host in job.hosts}
    inputs = [_look_input(each.look.name, each.hosts, complete) for each in looked]
    unseen = [phrase for each in looked for phrase in each.look.not_seen()]
    unseen += gaps(job)
    faults = [fault for reading in case.readings for fault in reading.faults]
    kinds = {piece.kind for reading in case.readings for piece in reading.pieces}.union(*complete.values())
    named = frozenset(host.name for host in job.hosts) - {UNNAMED}
    known = given(case.readings, named, job.nhosts)
    return build.Read(
        inputs=(*inputs, *map(_input, (*case.texts, *case.printed))),
        kinds=frozenset(kinds),
        rest_of=known.rest,
        place_of=known.place,
        without_looks=known.without_looks,
        not_seen=tuple(dict.fromkeys([*unseen, *options.left_out])),
        faults=tuple(dict.fromkeys([*faults, *(fault for each in looked for fault in each.faults)])),
        answered=tuple(options.answers),
        window=period_of(case.window),
    )


def period_of(window: Windowed | None) -> period.Window | None:
    """The window of time that was read, for the report."""
    if window is None:
        return None
    bounds = window.bounds
    since, until = (None if math.isinf(end) else end for end in (bounds.since, bounds.until))
    changes = window.changes
    return period.Window(
        text=bounds.text(), since=since, until=until, zone=bounds.zone, notes=window.notes,
        changes=None if changes is None else tuple(_changed(change, bounds.written(change.time)) for change in changes),
    )  # fmt: skip


def _changed(change: Changed, time: str) -> period.Changed:
    return period.Changed(change.what, time, change.source, change.line, change.text, change.every, change.now)


def _input(text: Reading | Unreadable) -> model.Input:
    if isinstance(text, Unreadable):
        return model.Input(source=text.name, notes=(text.reason,))
    sections = tuple(model.SectionRef(p.kind, p.first_line, p.last_line, p.host) for p in text.pieces)
    return model.Input(text.source, sections, text.lines, text.unread_lines, text.notes)


def _look_input(name: str, hosts: Collection[str], complete: Mapping[str, Collection[str]]) -> model.Input:
    """The entry for a machine inspected without any text input, with the kinds of data that were read completely."""
    seen = [
        model.SectionRef(kind, 0, 0, host)
        for host in sorted(hosts & complete.keys()) for kind in sorted(complete[host])
    ]  # fmt: skip
    return model.Input(name, tuple(seen))
