"""What a launch needs from its hosts and some of them lack, as `ncdiag probe --launch` found or a launcher says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Event, Fact, Job, LaunchFault, ProbeMeeting, ProbeProgram
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.model.probes import LaunchNeed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launch_plan import Plan, plan_of
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.probes import lines_of, note_lines
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_SHOWN = 3
_SHORT = "engine-gpus-short"
_NO_FILE = lazy_regex(r"\[Errno (?:2|13)\] (No such file or directory|Permission denied): ['\"](/[^'\"]{1,300})['\"]")
_MADE_WHILE_RUNNING = lazy_regex(
    r"(?i)^/(?:tmp|dev|proc|run|sys)/|cache|\.tmp|tmp\.|\.lock|torchinductor|triton|checkpoint|ckpt"
)
"""Files that processes create and remove while they run: a race, not a file that a host lacks."""
_TAKEN = "in use"
"""The text of strerror for EADDRINUSE."""


@derived
def launch_faults(job: Job, view: View) -> tuple[LaunchFault, ...]:
    """What the launch needs and some hosts lack, one fault for each need."""
    return (*_logins(job), *_users(job), *_programs(job), *_paths(job, view), *_slots(job, view))


@derived
def need(fault: LaunchFault, view: View) -> str:
    """The need that is not met (`LaunchFault.what`), with lines that show it as evidence."""
    note_lines(fault, view)
    return fault.what


@derived
def is_taken(meeting: ProbeMeeting, view: View) -> bool:
    """Does another program listen on the port where the ranks are to meet?"""
    view.note(meeting)
    return _TAKEN in (meeting.error or "")


def plan(job: Job) -> Plan:
    """The plan of the launch; where its text names no hosts, those that answered."""
    found, answered = plan_of(job), [own.host for own in job.probe_own]
    return plan_of(job, answered) if not set(answered) <= set(found.hosts) else found


def _logins(job: Job) -> Iterator[LaunchFault]:
    groups = defaultdict(list)
    for one in job.probe_logins:
        if one.outcome not in {None, "logged in"}:
            groups[one.outcome, one.port].append(one)
    for (outcome, port), some in groups.items():
        hosts = [one.peer for one in some]
        said = list(dict.fromkeys(one.error or "" for one in some))
        rest = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
        yield LaunchFault(
            what="login", hosts=fold_hosts(hosts), example=hosts[0], detail="; ".join(said[:_SHOWN]) + rest,
            outcome=outcome, port=f"-p {port} " if port is not None else "", provenance=lines_of(some),
        )  # fmt: skip


def _users(job: Job) -> Iterator[LaunchFault]:
    told = {own.host: f"{own.user} (uid {own.uid})" for own in job.probe_own}
    yield from _strange("user", "the user is", told, {own.host: own for own in job.probe_own})


def _programs(job: Job) -> Iterator[LaunchFault]:
    by_name: dict[str, list[ProbeProgram]] = defaultdict(list)
    for one in job.probe_programs:
        by_name[one.name].append(one)
    for name, some in by_name.items():
        told = {one.host: program_words(one) for one in some}
        yield from _strange("program", f"{name} is", told, {one.host: one for one in some})


def program_words(one: ProbeProgram) -> str:
    """The program with its release: ``/usr/bin/python3 (Python 3.10.12)``."""
    if one.path is None:
        return "not found"
    return f"{one.path} (Python {one.python})" if one.python else one.path


def _strange(
    what: LaunchNeed, subject: str, told: Mapping[str, str], facts: Mapping[str, Fact]
) -> Iterator[LaunchFault]:  # fmt: skip
    """Faults for hosts that differ from the majority, whose value is assumed to be right."""
    counts = Counter(told.values())
    if len(counts) < 2:  # noqa: PLR2004
        return
    usual, _ = counts.most_common(1)[0]
    others = [host for host, words in told.items() if words != usual]
    groups = [(words, [host for host in others if told[host] == words]) for words in counts if words != usual]
    shown = [f"{words} on {fold_hosts(hosts)}" for words, hosts in groups[:_SHOWN]]
    detail = f"{subject} {', '.join(shown)}, {usual} on {fold_hosts(told.keys() - set(others))}"
    telling = [next(host for host in told if told[host] == usual), *others]
    yield LaunchFault(
        what=what, hosts=fold_hosts(others), example=others[0], detail=detail,
        provenance=lines_of([facts[host] for host in telling]),
    )  # fmt: skip


def _paths(job: Job, view: View) -> Iterator[LaunchFault]:
    groups = defaultdict(list)
    for one in job.probe_paths:
        if one.error is not None:
            groups[one.path, one.error].append(one)
    for (path, error), some in groups.items():
        hosts = [one.host for one in some]
        yield LaunchFault(
            what="path", hosts=fold_hosts(hosts), example=path, detail=f"{path}: {error}", provenance=lines_of(some)
        )
    yield from _files_missing_on_some(job, view)
    missing = next((event for event in job.events if event.event == "launch-folder-missing"), None)
    if missing is not None:
        path = str(missing.fields.get("workdir") or "<folder>")
        detail = f"{path}: {missing.fields.get('error') or 'the folder in which it starts is missing there'}"
        yield LaunchFault(
            what="path", hosts=missing.host or "a host", example=path, detail=detail, provenance=lines_of([missing])
        )


def _files_missing_on_some(job: Job, view: View) -> Iterator[LaunchFault]:
    """Files that the program does not find, or may not read, on some hosts, while others do not complain."""
    lacking: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in job.events:
        found = _NO_FILE.search(str(event.fields.get("error", ""))) if event.event == EXCEPTION else None
        if (
            found is not None
            and event.host
            and not _MADE_WHILE_RUNNING.search(found[2])
            and is_open_failure(event, view)
        ):
            lacking[found[2], found[1]].append(event)
    named = {event.host for event in job.events if event.host} | {rank.host for rank in job.ranks if rank.host}
    for (path, error), events in lacking.items():
        hosts = {event.host for event in events if event.host}
        if named - hosts:
            yield LaunchFault(
                what="path", hosts=fold_hosts(hosts), example=path, detail=f"{path}: {error}",
                provenance=lines_of(events[:1]),
            )  # fmt: skip


_LACKS_GPU = ("cuda-invalid-device", "duplicate-gpu")
"""Failures of a process for which there is no GPU."""


def _slots(job: Job, view: View) -> Iterator[LaunchFault]:
    """Hosts with more processes than GPUs, or than requested from Slurm; a job without any GPU does not use NCCL."""
    short = next((event for event in job.events if event.event == _SHORT and is_open_failure(event, view)), None)
    if short is not None:
        wanted, seen = short.fields.get("wanted_gpus"), short.fields.get("available_gpus")
        detail = f"{wanted} for {seen} GPUs" if wanted is not None else short.text
        yield LaunchFault(what="slots", hosts=short.host or "this host", detail=detail, provenance=lines_of([short]))
        return
    own = _gpus_of_hosts(job, view)
    if not any(count for count, _ in own.values()):
        return
    found = plan(job)
    most = found.gpus_per_node
    room = {host: count if most is None else min(count, most) for host, (count, _) in own.items()}
    over = [host for host, count in found.slots.items() if host in room and count > room[host]]
    if over:
        told = [f"{found.slots[host]} for {room[host]} {_asked(found, own[host][0])} on {host}" for host in over]
        rest = f" and {len(told) - _SHOWN} more hosts" if len(told) > _SHOWN else ""
        fits = {host: min(count, room.get(host, count)) for host, count in found.slots.items()}
        fitting = ",".join(f"{host}:{count}" for host, count in fits.items() if count)
        lines = [*job.launches[:2], *(own[host][1] for host in over)]
        yield LaunchFault(
            what="slots", hosts=fold_hosts(over), example=fitting, detail=", ".join(told[:_SHOWN]) + rest,
            provenance=lines_of(lines),
        )  # fmt: skip


def _gpus_of_hosts(job: Job, view: View) -> dict[str, tuple[int, Fact]]:
    """The number of GPUs of each host, with the fact that shows it: by a probe, or by outputs beside a failed start.

    The slots of a host file may count processors, so an output counts where a process lacks a GPU of its own.
    """
    found: dict[str, tuple[int, Fact]] = {one.host: (one.gpus, one) for one in job.probe_own if one.gpus is not None}
    if not found and any(is_open_failure(event, view) for name in _LACKS_GPU for event in view.events_named(name)):
        shown = [host for host in job.hosts if host.gpus and is_closed(host, "gpus")]
        found = {host.name: (len(host.gpus), host.gpus[0]) for host in shown}
    return found


def _asked(found: Plan, gpus: int | None) -> str:
    """The word ``GPUs``; where fewer are requested from Slurm than exist, ``GPUs that Slurm is asked for``."""
    most = found.gpus_per_node
    return "GPUs that Slurm is asked for" if most is not None and most < (gpus or 0) else "GPUs"


@derived
def unreached_by_ssh(job: Job, view: View) -> str:
    """The hosts that ssh could not reach, folded: ``n[3-4]``."""
    return fold_hosts([event.peer for event in job.events if event.event == "ssh-unreachable" and event.peer])


_NO_LOGIN, _OTHER_KEY = "ssh-not-passwordless", "ssh-host-key-changed"


@derived
def is_refused_login(event: Event, view: View) -> bool:
    """Does ssh fail for lack of a key? The last line, which names no host, adds nothing to one that does."""
    if event.event not in {_NO_LOGIN, _OTHER_KEY}:
        return False
    return event.peer is not None or not any(
        each.peer is not None and each.event in {_NO_LOGIN, _OTHER_KEY} for each in view.job.events
    )


@derived
def refusing_host(event: Event, view: View) -> str:
    """The host to which ssh cannot log in, as far as the line names it."""
    return event.peer or "another host"
