"""Convert the engine's diagnosis to the report.

Fills in texts, computes and proves fixes, and adds what was read and what was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap

import msgspec

from ncdiag.base.severity import SEVERITIES
from ncdiag.base.version import __version__
from ncdiag.engine import results
from ncdiag.engine.schema import Rule
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Context, Job, Moment, Trial, Want
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.facts.vocabulary.contradictions import told_conflicts
from ncdiag.facts.vocabulary.hosts import unanswered
from ncdiag.facts.vocabulary.node_counts import node_count_text
from ncdiag.facts.vocabulary.runs import seen_trials
from ncdiag.facts.vocabulary.told import told_trials
from ncdiag.fixes.values import Values
from ncdiag.messages.vocabulary.ruled_out import ruled_out
from ncdiag.messages.vocabulary.timeline import timeline
from ncdiag.report import model
from ncdiag.report.accounts import account
from ncdiag.report.complaints import seen, told
from ncdiag.report.isolating import with_tests
from ncdiag.report.next_steps import next_steps
from ncdiag.report.period import Window
from ncdiag.report.priors import counted
from ncdiag.report.remedies import fixes_of
from ncdiag.report.restart import restart_of
from ncdiag.report.suspects import suspects_of, unbound_finding
from ncdiag.report.texts import evidence, lines_of, spoken
from ncdiag.report.traits import traits
from ncdiag.report.unnamed import spoken_of
from ncdiag.report.wanted import asked, wanted, without_given, without_shown
from ncdiag.suspects.cells import Lit
from ncdiag.suspects.choose import Suspected

LOOKED_AT: tuple[tuple[str, frozenset[str]], ...] = (
    ("the NCCL log of the ranks", frozenset({"nccl_log"})),
    ("network interfaces (ip addr)", frozenset({"interfaces"})),
    ("RDMA ports (ibstat)", frozenset({"ibstat", "ibstatus", "ibv_devinfo", "rdma_link", "sysfs_infiniband"})),
    ("GID tables (show_gids)", frozenset({"show_gids", "sysfs_infiniband"})),
    ("GPU topology (nvidia-smi topo -m)", frozenset({"topo_m"})),
    ("kernel modules (lsmod)", frozenset({"lsmod"})),
    ("limits (ulimit -a)", frozenset({"ulimit"})),
    ("shared memory (df -h /dev/shm)", frozenset({"df_shm"})),
    ("the environment (env)", frozenset({"env", "nccl_conf"})),
    ("the kernel log (dmesg)", frozenset({"dmesg"})),
)
"""The inputs that an expert would want to see, and the section kinds that contain them."""


def _nowhere(_: str) -> str:
    """No output is in the input."""
    return ""


def _as_it_is(text: str) -> str:
    return text


class Read(msgspec.Struct, frozen=True):
    """What the report says about the input besides the facts; ``answered`` are questions that a person answered.

    ``rest_of``: what of the outputs that a rule asks for (``ip addr; ip route``) is not in the input; ``place_of``: the
    line of the first of them, empty where one is missing; ``without_looks``: commands without those whose outputs are
    in the input. ``lit``: what the lines of the input say of each rule, by code. ``window``: the window of time that
    was read.
    """

    inputs: tuple[model.Input, ...]
    kinds: frozenset[str]
    not_seen: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    rest_of: Callable[[str], str] = _as_it_is
    place_of: Callable[[str], str] = _nowhere
    without_looks: Callable[[str], str] = _as_it_is
    lit: Mapping[str, Lit] = {}
    window: Window | None = None


def report(
    diagnosis: results.Diagnosis, suspected: Sequence[Suspected], view: View, values: Values, read: Read
) -> model.Report:  # fmt: skip
    """The whole report."""
    faults = [*read.faults, *diagnosis.faults]
    findings = tuple(_finding(found, view, values, faults, read) for found in diagnosis.findings)
    job = view.job
    counts = {severity: sum(f.severity == severity for f in findings) for severity in SEVERITIES}
    summary = model.Summary(
        verdict=diagnosis.verdict, root_cause=diagnosis.root_cause, errors=counts["error"], warnings=counts["warning"],
        infos=counts["info"], not_looked_at=not_looked_at(read), hosts=fold_hosts(_named(job)),
        nhosts=job.nhosts, nranks=job.nranks, nccl_version=_version(view),
    )  # fmt: skip
    complaints = (*told(job), *seen(view, diagnosis.findings))
    made = model.Report(
        tool=model.Tool("ncdiag", __version__), inputs=read.inputs, summary=summary, findings=findings,
        unknown=tuple(model.Unknown(u.code, u.name, u.missing, u.ask_for) for u in diagnosis.unknown),
        conflicts=_conflicts(view), complaints=complaints, told=_told(job, view),
        timeline=tuple(map(_moment, timeline(job, view))),
        ruled_out=(*(_ruled_out(view, diagnosis) if complaints else ()), *starmap(_excluded, diagnosis.excluded)),
        faults=tuple(dict.fromkeys(faults)), suspects=suspects_of(suspected, view, values, faults, read.answered),
        answers=diagnosis.answers, window=read.window,
        communicators=account(
            communicator_account(job, view), node_count_text(job, view), job.communicators_unlisted or 0
        ), traits=traits(view),
    )  # fmt: skip
    named = [*(found.rule for found in diagnosis.findings), *(each.rule for each in suspected)]
    rules = {rule.code: rule for rule in named}

    def fill(code: str, text: str) -> str:
        return asked(text, unbound_finding(rules[code]), view, values) if code in rules else text

    made = without_given(with_tests(made, rules, read.lit, view), read.place_of, read.rest_of, fill)
    made = msgspec.structs.replace(
        made, next_steps=next_steps(made), restart=restart_of(made, rules), counted=counted(made, view)
    )
    return spoken_of(made) if any(host.name == UNNAMED for host in job.hosts) else made


def _ruled_out(view: View, diagnosis: results.Diagnosis) -> Iterator[model.RuledOut]:
    """The causes that are ruled out, except those that a finding mentions."""
    at_fault = {found.rule.area for found in diagnosis.findings if found.severity != "info"}
    for found in ruled_out(view.job, view):
        if at_fault.isdisjoint(found.areas):
            yield model.RuledOut(found.what, found.because, lines_of(found))


def _excluded(rule: Rule, reason: results.Reason) -> model.RuledOut:
    title = rule.suspect.text if rule.suspect else rule.title
    return model.RuledOut(title, reason.text, evidence(reason.spans), rule.name)


def _moment(found: Moment) -> model.Moment:
    return model.Moment(found.what, found.who, found.text, found.ordered_by, found.time, lines_of(found))


def _told(job: Job, view: View) -> tuple[model.Told, ...]:
    """Other statements of people: the first line for each."""
    said: list[tuple[str, str, Trial | Context | Want]] = [
        *((trial.outcome, label, trial) for label, trial in told_trials(job, view)),
        *((context.kind, context.value, context) for context in job.contexts if context.told),
        *(("wants", want.what, want) for want in job.wishes),
    ]
    first = {(kind, label): fact for kind, label, fact in reversed(said)}
    shown = (
        model.Told("decides" if trial.change.startswith('"') else trial.outcome, trial.change, trial.spans[0].text,
                   evidence(list(trial.spans)))
        for trial in seen_trials(job, view) if (trial.outcome, trial.change) not in first
    )  # fmt: skip
    return *shown, *(
        model.Told(kind, label, fact.text, evidence([span] if (span := fact.provenance.get("")) else []))
        for (kind, label), fact in reversed(first.items())
    )


def _named(job: Job) -> list[str]:
    """The hosts that were read; the placeholder for lines without a host is left out if others have names.

    So are hosts that were asked and did not answer.
    """
    silent = unanswered(job)
    names = [host.name for host in job.hosts]
    return [name for name in names if name != UNNAMED and name not in silent] or names


def not_looked_at(read: Read) -> tuple[str, ...]:
    """What this input could not show, and what a collector could not read."""
    missing = tuple(phrase for phrase, kinds in LOOKED_AT if not kinds & read.kinds)
    return missing + read.not_seen


def _version(view: View) -> str | None:
    version = view.version()
    return None if version is None else version.text or str(version)


def _finding(
    found: results.Finding, view: View, values: Values, faults: list[str], read: Read
) -> model.Finding:  # fmt: skip
    rule = found.rule
    fixes = [without_shown(fix, read.without_looks) for fix in fixes_of(found, view, values, faults)]
    return model.Finding(
        code=rule.code, name=rule.name, formerly=rule.formerly, severity=found.severity, role=found.role,
        confidence=found.confidence, title=spoken(found.title), why=" ".join(found.why.split()),
        hosts=fold_hosts(found.hosts), nhosts=len(found.hosts), ranks=fold_ranks(found.ranks), nranks=len(found.ranks),
        evidence=evidence(found.evidence), evidence_count=len(found.evidence),
        fixes=tuple(fix for fix in fixes if isinstance(fix, model.Fix)),
        not_offered=tuple(fix for fix in fixes if isinstance(fix, str)),
        explained_by=found.explained_by, consequences=found.consequences, references=rule.references,
        asks=wanted(found, read.rest_of, lambda text: asked(text, found, view, values)),
    )  # fmt: skip


def _conflicts(view: View) -> tuple[model.Conflict, ...]:
    return tuple(
        model.Conflict(entity=c.entity, field=c.field, values=c.values, evidence=evidence(c.spans), kept=c.kept)
        for c in (*view.job.conflicts, *told_conflicts(view.job, view))
    )
