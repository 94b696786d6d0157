"""The whole program: read, cut, parse, merge, judge, fix, report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from ncdiag import catalogue
from ncdiag.engine.causes import conclude
from ncdiag.engine.floor import judge_all
from ncdiag.engine.schema import Rule
from ncdiag.errors import UsageError
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.nccl import environment
from ncdiag.reading.job import job_of
from ncdiag.reading.many import Progress, read_all
from ncdiag.reading.model import Readable, Reading
from ncdiag.report import build, model


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked of the judgement. ``select`` and ``ignore`` hold codes or names of rules.

    ``left_out`` are phrases for the report on what is ignored by a standing order.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    nccl: str | None = None
    rules: tuple[Path, ...] = ()


DEFAULTS = Options()


class Look(Protocol):
    """What a collector saw of a host (`ncdiag.machine.host`); ``name``: ``this host``, a recorded root."""

    @property
    def name(self) -> str:
        """Which host was looked at."""

    def observations(self) -> Sequence[Observation]:
        """What was seen without any text."""

    def not_seen(self) -> Sequence[str]:
        """A phrase for everything that was not seen."""


def diagnose(
    sources: Iterable[Readable | Reading], options: Options = DEFAULTS, looks: Iterable[Look] = (),
    progress: Progress | None = None,
) -> model.Report:  # fmt: skip
    """Judge the sources and what a collector observed, of one host or of several; `read_all` reads the sources.

    ``looks`` is walked when all sources have been read. Sources that could not be read carry a ``reason`` and become a
    note.
    """
    rules = selected(catalogue.rules(options.rules), options)
    readings: list[Reading] = []
    inputs: list[model.Input] = []
    for source in read_all(sources, progress=progress):
        if isinstance(source, Reading):
            readings.append(source)
            inputs.append(_input(source))
        else:
            inputs.append(model.Input(source=source.name, notes=(str(source.reason),)))
    seen = [(look, look.observations()) for look in looks]
    observed = [observation for _, mine in seen for observation in mine]
    view = view_of(job_of(readings, observed), options.nccl)
    values = Values(view)
    understood = bool(observed) or any(reading.observations for reading in readings)
    diagnosis = conclude(judge_all(rules, view, values), view, understood=understood)
    kinds = {piece.kind for reading in readings for piece in reading.pieces}
    kinds |= {kind for host in view.job.hosts for kind in host.complete}
    inputs[:0] = [_look_input(look.name, {o.host for o in mine}, view.job) for look, mine in seen]
    not_seen = (*(phrase for look, _ in seen for phrase in look.not_seen()), *options.left_out)
    faults = tuple(fault for reading in readings for fault in reading.faults)
    return build.report(diagnosis, view, values, build.Read(tuple(inputs), frozenset(kinds), not_seen, faults))


def view_of(job: Job, nccl: str | None = None) -> View:
    """The job as rules read it; ``nccl`` is the version to assume where the input does not tell one."""
    if nccl is not None:
        version = VersionRange.exact(nccl)
        if version is None:
            msg = f"{nccl!r} is no NCCL version; write for instance 2.18.3"
            raise UsageError(msg)
        known = any(h.nccl_version for h in job.hosts) or any(
            r.nccl_version and r.nccl_version.known for r in job.ranks
        )
        if not known:
            hosts = tuple(msgspec.structs.replace(h, nccl_version=version) for h in job.hosts)
            ranks = tuple(msgspec.structs.replace(r, nccl_version=version) for r in job.ranks)
            job = msgspec.structs.replace(job, hosts=hosts, ranks=ranks)
    return View(job, environment.resolve_fields)


def selected(rules: Iterable[Rule], options: Options) -> tuple[Rule, ...]:
    """The rules to judge; a code or name that no rule has is refused."""
    rules = tuple(rules)
    known = {word for rule in rules for word in (rule.code, rule.name, *rule.formerly)}
    for word in (*options.select, *options.ignore):
        if word not in known:
            msg = f"there is no rule {word!r}; `ncdiag rules list` shows them"
            raise UsageError(msg)

    def named(rule: Rule, words: Sequence[str]) -> bool:
        return bool({rule.code, rule.name, *rule.formerly} & set(words))

    return tuple(r for r in rules if (not options.select or named(r, options.select)) and not named(r, options.ignore))


def _input(reading: Reading) -> model.Input:
    sections = tuple(model.SectionRef(p.kind, p.first_line, p.last_line, p.host) for p in reading.pieces)
    return model.Input(reading.source, sections, reading.lines, reading.unread_lines, reading.notes)


def _look_input(name: str, mine: Collection[str | None], job: Job) -> model.Input:
    """What was read of a machine without any text: the kinds that were seen whole."""
    seen = [
        model.SectionRef(kind, 0, 0, host.name)
        for host in job.hosts if host.name in mine for kind in sorted(host.complete)
    ]  # fmt: skip
    return model.Input(name, tuple(seen))
