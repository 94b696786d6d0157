"""The job as a whole: whether it spans several hosts, and what differs between its ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Difference, Job, Rank, Timeout
from ncdiag.facts.scalars import Version, ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.comparisons import TORCH_ERROR, host_differences, raises_own, who
from ncdiag.facts.vocabulary.failures import tells_no_code
from ncdiag.facts.vocabulary.launches import is_multi_host as names_several_hosts

_KERNEL = "kernel"
"""The origin of the kernel's lines: a host prints them, whatever runs on it."""


@derived
def stalled_at_start(job: Job, view: View) -> bool:
    """Did the first collective exceed the time limit of a watchdog?"""
    for timeout in job.timeouts:
        first = timeout.sequence == 1 or (timeout.last_completed is not None and timeout.last_completed < 1)
        if first and is_timeout(timeout, view):
            view.note(timeout)
            return True
    return False


@derived
def is_multi_host(job: Job, view: View) -> bool | None:
    """Does the job span several hosts? From nNodes, hosts that were seen, launch lines, foreign peers, and tests."""
    if job.nhosts is not None:
        return job.nhosts > 1
    rank_hosts = {r.host for r in job.ranks}
    launched = [names_several_hosts(launch, view) for launch in job.launches]
    if len(rank_hosts) > 1 or any(launched) or has_foreign_peer(job, view):
        return True
    if any(name.startswith("NET") for r in job.ranks for name in r.transports or ()):
        return True
    return False if False in launched or _tests_one_host(job, view) else None


@derived
def has_one_gpu_a_host(job: Job, view: View) -> bool:
    """Does every host of the job have a single rank, so that nothing is exchanged inside a host?"""
    sizes = {*(found.nranks for found in job.communicators), *(rank.nranks for rank in job.ranks)} - {None}
    return job.nhosts is not None and job.nhosts > 1 and sizes == {job.nhosts}


@derived
def has_ready_rank(job: Job, view: View) -> bool:
    """Did a rank that was seen finish its setup? Never unknown: no rank was seen is no."""
    ready = next((rank for rank in job.ranks if rank.state == "ready"), None)
    if ready is not None:
        view.note(ready)
    return ready is not None


@derived
def nothing_ran(job: Job, view: View) -> bool:
    """True if the input has no output of a job and no reported problem. Events of the kernel log do not count."""
    if job.ranks or job.benchmarks or job.throughputs or job.complaints:
        return False
    return all(event.origin == _KERNEL for event in job.events)


@derived
def is_shown_on_one_host(job: Job, view: View) -> bool:
    """Does the input show that the job runs on one host? Never unknown, for fixes that harm a job on several hosts."""
    return is_multi_host(job, view) is False


def _tests_one_host(job: Job, view: View) -> bool:
    """Is the only run a benchmark on one host, and does no complaint mention several? Its table lists all processes."""
    sizes = {communicator.nranks for communicator in job.communicators} | {rank.nranks for rank in job.ranks}
    alone = [run for run in job.benchmarks if run.nhosts == 1 and sizes <= {run.nranks, None}]
    cut = [run for run in job.benchmarks if run.nhosts is None and run.nranks is None]  # a table below other lines
    if not alone or len(alone) + len(cut) < len(job.benchmarks):
        return False
    if any(told.scope == "multi-host" for told in job.complaints):
        return False
    view.note(alone[0], "nhosts")
    return True


@derived
def has_foreign_peer(job: Job, view: View) -> bool | None:
    """Does a message name a peer address that belongs to no known interface, so that another host takes part?"""
    own = {a.ip.split("%")[0] for h in job.hosts for i in h.interfaces for a in i.addresses or ()}
    peers = {e.peer for e in job.events if e.peer}
    addresses = {_address(peer) for peer in peers} - {None}
    if not addresses or not own:
        return None
    return any(address not in own for address in addresses)


def _address(peer: str) -> str | None:
    text = peer.split("<", 1)[0].split("%", 1)[0]
    return text if ip_address(text) else None


@derived
def differences(job: Job, view: View) -> tuple[Difference, ...]:
    """What differs between ranks or hosts, where known: versions, network, settings, drivers, NICs, MTUs."""
    found: list[Difference] = []
    for what, read in (("nccl_version", _version_reader(view)), *_COMPARED.items()):
        found += _difference(job, what, "", read)
    names = {name for rank in job.ranks for name in rank.settings}
    for name in sorted(names):
        found += _difference(job, "setting", name, _setting_reader(name))
    found += _host_settings(job, view)
    found += _told_versions(job)
    found += host_differences(job, view)
    return tuple(found)


_COMPARED: dict[str, Callable[[Rank], Any]] = {
    "net": lambda rank: rank.net,
    "library": lambda rank: rank.library,
}


def _version_reader(view: View) -> Callable[[Rank], Any]:
    """The release that a rank prints, else the only one that PyTorch names in errors on its host.

    Those count for ranks of one communicator: the logs of pods may be of other jobs.
    """
    told: dict[str, set[str]] = defaultdict(set)
    for event in view.job.events:
        if event.event == TORCH_ERROR and event.host and (version := event.fields.get("nccl_version")):
            told[event.host].add(str(version))
    raised = raises_own(view.job, view)

    def read(rank: Rank) -> Any:  # noqa: ANN401
        if rank.nccl_version is not None and rank.nccl_version.known:
            return str(rank.nccl_version)
        named = told.get(rank.host, set())
        if raised or len(named) != 1 or not any(_are_joined(rank, other) for other in view.job.ranks):
            return None
        return next(iter(named))

    return read


def _are_joined(rank: Rank, other: Rank) -> bool:
    """Are these ranks on two hosts, and in one communicator by its id, else by its size and their numbers?"""
    if rank.host == other.host:
        return False
    if rank.communicator is not None and other.communicator is not None:
        return rank.communicator == other.communicator
    return rank.nranks is not None and rank.nranks == other.nranks and rank.rank != other.rank


def _setting_reader(name: str) -> Callable[[Rank], Any]:
    def read(rank: Rank) -> Any:  # noqa: ANN401
        setting = rank.settings.get(name)
        return setting.text if setting else None

    return read


def _difference(job: Job, what: str, name: str, read: Callable[[Rank], Any]) -> list[Difference]:
    groups: dict[str, list[Rank]] = defaultdict(list)
    spans: dict[str, Span] = {}
    for rank in job.ranks:
        value = read(rank)
        if value is not None:
            groups[str(value)].append(rank)
            spans.setdefault(str(value), rank.provenance.get(what) or rank.provenance.get("") or Span("", 0))
            if name and name in rank.settings:
                spans[str(value)] = rank.settings[name].provenance.get("", spans[str(value)])
    if len(groups) < 2:  # noqa: PLR2004
        return []
    return [Difference(what=what, name=name or what, groups=_folded(groups), provenance=spans)]


def _host_settings(job: Job, view: View) -> list[Difference]:
    """Variables whose values differ between the environments of two hosts."""
    result = []
    names = {name for host in job.hosts for name in host.settings}
    for name in sorted(names):
        groups: dict[str, list[str]] = defaultdict(list)
        spans: dict[str, Span] = {}
        for host in job.hosts:
            setting = host.settings.get(name)
            if setting and setting.text is not None and setting.pid is None:
                groups[setting.text].append(host.name)
                spans.setdefault(setting.text, setting.provenance.get("", Span("", 0)))
        if len(groups) > 1:
            folded = {value: fold_hosts(hosts) for value, hosts in groups.items()}
            result.append(Difference(what="setting", name=name, groups=folded, provenance=spans))
    return result


def _folded(groups: dict[str, list[Rank]]) -> dict[str, str]:
    return {value: who(ranks, sorted({r.host for r in ranks})) for value, ranks in groups.items()}


def _told_versions(job: Job) -> list[Difference]:
    """The two versions in NCCL's own message about different versions (src/init.cc, 2.23 and later)."""
    result = []
    for event in job.events:
        if event.event == "version-mismatch":
            fields = event.fields
            groups = {
                str(Version.from_code(int(fields[f"{which}_version"] or 0))): f"rank {fields[f'{which}_rank']}"
                for which in ("first", "second")
            }
            result.append(
                Difference(what="nccl_version", name="nccl_version", groups=groups, provenance=event.provenance)
            )
    return result


@derived
def summary(difference: Difference, view: View) -> str:
    """The differing values, each with its ranks or hosts: ``2.22.3 (ranks 0-7 on n1), 2.23.4 (ranks 8-15 on n2)``."""
    return ", ".join(f"{value} ({who})" for value, who in difference.groups.items())


@derived
def is_timeout(timeout: Timeout, view: View) -> bool:
    """Did a collective run longer than allowed?

    Other records only show the state of a rank, except where PyTorch searches for the stack of a collective that
    failed, or a watchdog signals to the other ranks that it aborted, and no return code of NCCL explains why. Such a
    signal counts if the rank that sent it does not report the timeout itself.
    """
    if timeout.given_up:
        return True
    if timeout.only_stack:
        return not any(other.given_up for other in view.job.timeouts)
    if tells_no_code(view.job, view) is False:
        return False
    if timeout.signal is None:
        return any(event.event == "torch-flight-recorder-off" for event in view.job.events)
    spoke = {t.rank for t in view.job.timeouts if t.given_up or (timeout.signal == "other" and t.signal == "own")}
    told_by = timeout.rank if timeout.signal == "own" else timeout.signalled_by
    return told_by not in spoke if told_by is not None else not spoke
