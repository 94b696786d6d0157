"""Adjust findings to the outcome of the job: nothing is a root cause if nothing failed.

A finding based on lines from which the job recovered, or on kernel messages from long before the job, becomes a note. A
cause remains one only if something failed that it can have caused; otherwise it becomes a risk, which may cause
trouble later and is not an error. So does a fault of the host or the network beside a mistake of the program, unless
something else failed that it explains.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.base.severity import Severity
from ncdiag.base.spans import Span
from ncdiag.engine import exclusion
from ncdiag.engine.results import Finding
from ncdiag.facts.model import FAILURES, Event, Host, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_failure, is_in_job, is_open_failure, open_failures, outcome
from ncdiag.messages.about import category, events_of
from ncdiag.messages.vocabulary.first_ends import mistakes
from ncdiag.messages.vocabulary.phases import phase_shown

_AROUND = frozenset({"cloud", "container", "ib", "kernel", "net", "roce", "socket"})
"""Areas of rules about what is around a program: none of it makes its code raise a KeyError."""
_OF_NCCL = ("NCCL_", "RCCL_")
_WELL = frozenset({"finished", "running"})
_KERNEL = "kernel"
_LONG = 86400.0
"""Seconds before a job that no clock difference or time zone can account for."""
_RUNNING = frozenset({"slow", "not-used", "memory-grows"})
"""Complaints about jobs that run."""


class Standing:
    """Weighs findings against the failures of the job."""

    def __init__(self, view: View) -> None:
        """Split the lines on failures into those that count and those from which the job recovered."""
        self._view = view
        quiet = not open_failures(view.job, view) and not view.job.complaints
        self._open: set[Span] = set()
        self._past: set[Span] = set()
        for event in view.job.events:
            span = event.provenance.get("")
            if span is None:
                continue
            if is_open_failure(event, view):
                self._open.add(span)
            elif is_failure(event, view) or (quiet and event.kind in FAILURES):
                # remarks in passing are harmless if nothing failed
                self._past.add(span)
        times = [e.time for e in view.job.events if e.origin != _KERNEL and e.time is not None]
        self._began = min(times, default=None)
        self._well = outcome(view.job, view) in _WELL
        self._told = {found.what for found in view.job.complaints}
        self._scene = exclusion.Scene(view)
        self._mistakes = {span for event in mistakes(view.job, view) if (span := event.provenance.get("")) is not None}
        self._after_mistake: set[str] = set()
        self._ended_before_nccl = self._ends_before_nccl()

    def first(self, found: Finding) -> Finding:
        """The finding, as a note if it rests only on lines from which the job recovered, or on a host outside of it."""
        spans = _spans(found)
        if spans & self._mistakes:
            self._after_mistake |= {found.rule.name, *found.rule.explains}
        past = bool(spans & self._past) and not spans & self._open
        if found.severity != "info" and (past or self._is_outside(found) or self._is_long_ago(found)):
            role = "risk" if found.role == "cause" else found.role
            return msgspec.structs.replace(found, severity="info", role=role)
        return found

    def _is_long_ago(self, found: Finding) -> bool:
        """True if the kernel printed all of its evidence more than a day before the first line of the job."""
        events = [entity for names in found.instances for entity in names.values() if isinstance(entity, Event)]
        if self._began is None or not events or any(event.origin != _KERNEL for event in events):
            return False
        return all(event.time is not None and event.time < self._began - _LONG for event in events)

    def _is_outside(self, found: Finding) -> bool:
        hosts = [self._view.host(name) for name in found.where.hosts]
        return bool(hosts) and all(host is not None and self._left_out(host) for host in hosts)

    def _left_out(self, host: Host) -> bool:
        return is_in_job(host, self._view) is False

    def last(self, found: Finding, explained: Sequence[Finding]) -> Finding:
        """The cause, changed to a risk if nothing failed that it explains.

        ``explained`` are the findings that it explains.

        The same applies to a symptom of an unused part, if the job succeeded and nobody misses the part.
        """
        if self._is_excluded(found, explained):
            return msgspec.structs.replace(found, severity="info", role="risk")
        if self._is_missed_by_nobody(found):
            return msgspec.structs.replace(found, role="risk")
        if found.role != "cause" or found.severity == "info":
            return found
        if self._is_never_read(found):
            return msgspec.structs.replace(found, severity=_milder(found.severity), role="risk")
        if self._has_done_harm(found, explained) and not self._is_beside_a_mistake(found, explained):
            return found
        return msgspec.structs.replace(found, severity=_milder(found.severity), role="risk")

    def _is_never_read(self, found: Finding) -> bool:
        """Is it about variables of NCCL alone, and did the job end while its processes were started, or met?"""
        if not self._ended_before_nccl or _spans(found) & self._open:
            return False
        held = [entity for names in found.instances for entity in names.values()]
        return bool(held) and all(isinstance(each, Setting) and each.name.startswith(_OF_NCCL) for each in held)

    def _ends_before_nccl(self) -> bool:
        """Are all failures that say more than that something failed of the launcher or the rendezvous?

        NCCL is loaded after both: its own bootstrap is later, and so is a failure that it reports.
        """
        failures = open_failures(self._view.job, self._view)
        if self._view.job.ranks or any(event.event in events_of("result-code") for event in failures):
            return False
        return {phase_shown(event, self._view) for event in failures if not _is_vague(event)} == {"rendezvous"}

    def _has_done_harm(self, found: Finding, explained: Sequence[Finding]) -> bool:
        """Did something fail that the cause can have caused, or does its own line report a failure?"""
        if _spans(found) & self._open:
            return True
        meant = self._is_meant(found)
        if (meant and found.rule.broken) or (not self._well and (meant or found.rule.broken)):
            return True
        return any(other.severity != "info" and other.role != "risk" and not _only_worded(other) for other in explained)

    def _is_excluded(self, found: Finding, explained: Sequence[Finding]) -> bool:
        """True if it cannot be the cause of what goes wrong, and rests on no line that says so.

        Neither if another cause comes of it that is not excluded.
        """
        if found.severity == "info" or found.confidence == "certain" or _spans(found) & self._open:
            return False
        if exclusion.excluded(found.rule, self._scene, exclusion.OF_FINDINGS) is None:
            return False
        made = (each for each in explained if (each.role, each.severity) == ("cause", "error"))
        return all(exclusion.excluded(each.rule, self._scene, exclusion.OF_FINDINGS) for each in made)

    def _is_beside_a_mistake(self, found: Finding, explained: Sequence[Finding]) -> bool:
        """Did a mistake of the program end it, which a fault of the host or the network does not explain?

        What the processes of other ranks report of its end, and failures that no rule knows, do not count.
        """
        if not self._mistakes or found.confidence == "certain":
            return False
        if found.rule.area not in _AROUND or _spans(found) & self._mistakes:
            return False
        open_ones = [other for other in explained if other.severity != "info" and other.role != "risk"]
        return all(other.rule.floor or other.rule.name in self._after_mistake for other in open_ones)

    def _is_missed_by_nobody(self, found: Finding) -> bool:
        unused = found.role == "symptom" and found.rule.complaint == "not-used"
        return unused and self._well and not self._told and not _spans(found) & self._open

    def _is_meant(self, found: Finding) -> bool:
        """True if there is a complaint that the finding can cause.

        If the complaint is that a running job is slow or leaves something unused, causes of failures do not match.
        """
        makes = set(found.rule.suspect.complaints) if found.rule.suspect else set()
        return bool(self._told) and (not makes or not self._told <= _RUNNING or bool(makes & self._told))


def _milder(severity: Severity) -> Severity:
    return "warning" if severity == "error" else severity


def _is_vague(event: Event) -> bool:
    known = category(event.event)
    return known is None or known.vague


def _only_worded(found: Finding) -> bool:
    """True if it rests on words of a failure in a line that is not known: that makes no risk a cause."""
    return found.rule.floor and found.severity != "error"


def _spans(found: Finding) -> set[Span]:
    """The lines on which a finding rests: its evidence, and its events."""
    events = (entity for names in found.instances for entity in names.values() if isinstance(entity, Event))
    return {*found.evidence, *(span for event in events if (span := event.provenance.get("")) is not None)}
