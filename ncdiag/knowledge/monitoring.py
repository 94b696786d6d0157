"""Reports of RAS and of the GPUs' memory counters about a running job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Event, Gpu, Job, RasProblem, RasRank, RasReport, RasShare
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import is_said_to_hang
from ncdiag.facts.vocabulary.job import is_timeout
from ncdiag.facts.vocabulary.outcome import open_failures, outcome

_FIELDS = {
    "remapping_pending": "bad memory rows wait for a reset to be replaced",
    "retirement_pending": "bad memory pages wait for a reset to be retired",
    "sram_threshold_exceeded": "its SRAM had more uncorrectable errors than NVIDIA tolerates",
}


@derived
def memory_fault(gpu: Gpu, view: View) -> str | None:
    """The remaining repair of the GPU's memory, in words; empty for none, None if no output shows it."""
    told = {name: getattr(gpu, name) for name in _FIELDS}
    if all(value is None for value in told.values()):
        return None
    found = [name for name, value in told.items() if value]
    for name in found:
        view.note(gpu, name)
    return " and ".join(_FIELDS[name] for name in found)


_NAMED = 4
"""The largest number of communicators or processes that a title names; the others are counted."""


@derived
def has_dead_processes(job: Job, view: View) -> bool:
    """Did RAS consider a process dead, in a report or in monitor mode?"""
    for report in job.ras_reports:
        if any(process.state == "dead" for process in report.processes):
            view.note(report)
    for event in job.events:
        if event.event == "ras-peer-dead":
            view.note(event)
    return bool(_dead(job))


@derived
def dead_text(job: Job, view: View) -> str:
    """The dead processes: ``2 processes (901 and 902 on 10.20.0.9)``."""
    dead = _dead(job)
    hosts = sorted({node for node, _ in dead})
    pids = [str(pid) for _, pid in dead[:_NAMED]]
    more = f" and {len(dead) - _NAMED} more" if len(dead) > _NAMED else ""
    word = "process" if len(dead) == 1 else "processes"
    return f"{len(dead)} {word} ({', '.join(pids)}{more} on {fold_hosts(hosts)})"


def _dead(job: Job) -> list[tuple[str, int]]:
    found = {(p.node, p.pid) for r in job.ras_reports for p in r.processes if p.state == "dead"}
    for event in job.events:
        node, pid = event.fields.get("node"), event.fields.get("pid")
        if event.event == "ras-peer-dead":
            found.add((str(node or event.host or "a host"), pid if isinstance(pid, int) else 0))
    return sorted(found)


@derived
def has_silent_ranks(report: RasReport, view: View) -> bool:
    """Did ranks or processes not answer RAS?"""
    return bool(_silent(report)) or any(process.state == "missing" for process in report.processes)


@derived
def silent_text(report: RasReport, view: View) -> str:
    """The ranks without an answer, ``ranks 17-18 of communicator 5a5a00112233aabb``; else the processes without one."""
    parts = []
    for problem in _silent(report):
        numbers = [rank.rank for share in problem.shares for rank in share.ranks]
        name = f"ranks {fold_ranks(numbers)}" if numbers else f"{problem.missing_count or 'some'} ranks"
        parts.append(f"{name} of communicator {problem.hash or problem.label}")
    if not parts:
        missing = [p for p in report.processes if p.state == "missing"]
        parts = [f"process {p.pid} on {p.node}" for p in missing]
    return _listed(parts)


@derived
def misses_timeout(report: RasReport, view: View) -> bool:
    """Did a watchdog give up, while all communicators of the report run, with equal counts and without an error?"""
    late = next((timeout for timeout in view.job.timeouts if is_timeout(timeout, view)), None)
    calm = all(group.status == "RUNNING" and not group.errors for group in report.groups)
    if late is None or not report.groups or not calm or report.problems or report.processes:
        return False
    view.note(report)
    view.note(late)
    return True


_LEFT = {
    "NOCOMM": ("holds communicator {name} no more", "hold communicator {name} no more"),
    "FINALIZE": ("destroys communicator {name}", "destroy communicator {name}"),
    "ABORT": ("has aborted communicator {name}", "have aborted communicator {name}"),
}
"""What a rank does that RAS gives this status, and several ranks."""


def _left(report: RasReport) -> list[tuple[RasProblem, RasShare]]:
    """The groups of ranks that left a communicator of which more ranks still run."""
    return [
        (problem, share)
        for problem in report.problems if problem.what == "status"
        for share in problem.shares
        if share.value in _LEFT and share.count < _running(problem)
    ]  # fmt: skip


def _running(problem: RasProblem) -> int:
    return sum(share.count for share in problem.shares if share.value == "RUNNING")


@derived
def has_left_ranks(report: RasReport, view: View) -> bool:
    """Did few ranks leave a communicator in which most still run, in a job that is not known to be at its end?

    Not where such a rank prints why it left: an exception of the program is the cause then.
    """
    groups = _left(report)
    left = {rank.rank for _, share in groups for rank in share.ranks}
    if not groups or any(event.rank in left and _is_own(event) for event in open_failures(view.job, view)):
        return False
    return outcome(view.job, view) != "finished"


def _is_own(event: Event) -> bool:
    """Is it a failure of this rank, not one that it reports of others?"""
    return event.event == "python-exception" or event.kind == "cause"


@derived
def left_text(report: RasReport, view: View) -> str:
    """The ranks that left: ``rank 3 (GPU 3, process 64 on n1) holds communicator 5a5a no more, 31 ranks are in it``."""
    parts = []
    for problem, share in _left(report):
        words = _LEFT[share.value][share.count > 1].format(name=problem.hash or problem.label)
        one = share.ranks[0] if len(share.ranks) == 1 else None
        place = f" (GPU {one.gpu}, process {one.pid} on {one.node})" if one is not None and one.pid is not None else ""
        who = _holders([rank.rank for rank in share.ranks], share.count)
        running = _running(problem)
        parts.append(f"{who}{place} {words}, and {running} {'rank' if running == 1 else 'ranks'} wait in it")
    return _listed(parts)


def _first_left(report: RasReport) -> RasRank | None:
    return next((rank for _, share in _left(report) for rank in share.ranks if rank.pid is not None), None)


@derived
def left_pid(report: RasReport, view: View) -> str:
    """The process of the first rank that left, or a word for it in a command."""
    return _pid(_first_left(report))


@derived
def left_host(report: RasReport, view: View) -> str:
    """The address of the host of the first rank that left, or words for it."""
    first = _first_left(report)
    return "of that rank" if first is None or first.node is None else first.node


def _pid(rank: RasRank | None) -> str:
    return "<pid>" if rank is None else str(rank.pid)


def _silent(report: RasReport) -> list[RasProblem]:
    return [problem for problem in report.problems if problem.what == "missing"]


@derived
def counts_differ(report: RasReport, view: View) -> bool:
    """Did ranks of one communicator launch different numbers of an operation?"""
    return bool(_lags(report))


@derived
def counts_stand_still(report: RasReport, view: View) -> bool:
    """Does another report of the input show the same numbers in one of these communicators?

    Numbers that differ once are normal while the job makes progress; equal ones in a second report show that it hangs.
    """
    for others in reports_by_counts(view.job, view).values():
        if len(others) > 1 and any(other is report for other in others):
            for other in others:
                view.note(other)
            return True
    return False


@derived
def counts_hold(report: RasReport, view: View) -> bool:
    """Do the same differing numbers stay: in a second report, or in the one report of a job that is said to hang?"""
    if counts_stand_still(report, view):
        return True
    held = len(view.job.ras_reports) == 1 and counts_differ(report, view) and is_said_to_hang(view.job)
    if held:
        view.note(report)
    return held


def _first_behind(report: RasReport) -> RasRank | None:
    """The first listed rank that the others wait for."""
    for problem in _lags(report):
        least = min(share.operation or 0 for share in problem.shares)
        for share in problem.shares:
            if (share.operation or 0) == least and share.ranks and share.ranks[0].pid is not None:
                return share.ranks[0]
    return None


@derived
def behind_pid(report: RasReport, view: View) -> str:
    """The process of the first rank that is behind, or a word for it in a command."""
    return _pid(_first_behind(report))


@derived
def behind_hosts(report: RasReport, view: View) -> str:
    """The host of the first rank that is behind, ``host 10.12.0.104``, or words for the hosts."""
    late = _first_behind(report)
    return "the hosts of the ranks that are behind" if late is None or late.node is None else f"host {late.node}"


@derived
def reports_by_counts(job: Job, view: View) -> dict[tuple[object, ...], list[RasReport]]:
    """The reports that show the same differing numbers of one communicator."""
    found: dict[tuple[object, ...], list[RasReport]] = defaultdict(list)
    for report in job.ras_reports:
        for problem in _lags(report):
            found[_numbers(problem)].append(report)
    return found


@derived
def counts_text(report: RasReport, view: View) -> str:
    """The differing numbers, highest first: ``AllReduce: 28 ranks at 100, ranks 3,5 at 99``.

    Ranks that are listed by number need not be the late ones.
    """
    parts = []
    for problem in _lags(report):
        shares = sorted(problem.shares, key=lambda share: -(share.operation or 0))
        told = [f"{_holders([r.rank for r in s.ranks], s.count)} at {s.operation}" for s in shares]
        parts.append(f"{problem.collective or 'all collectives'}: {', '.join(told)}")
    return _listed(parts)


def _holders(numbers: list[int], count: int) -> str:
    word = "rank" if count == 1 else "ranks"
    return f"{word} {fold_ranks(numbers)}" if len(numbers) == count else f"{count} {word}"


def _lags(report: RasReport) -> list[RasProblem]:
    return [problem for problem in report.problems if problem.what == "operations" and len(problem.shares) > 1]


def _numbers(problem: RasProblem) -> tuple[object, ...]:
    counts = sorted((share.operation or 0, share.count) for share in problem.shares)
    return problem.hash, problem.collective, tuple(counts)


def _listed(parts: Iterable[str]) -> str:
    held = list(parts)
    more = f"; and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    return "; ".join(held[:_NAMED]) + more
