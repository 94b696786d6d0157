"""Results of `ncdiag probe --launch` for each step of its checklist: None is not seen, empty is not needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.knowledge.launcher.reach import plan, program_words


@derived
def launch_hosts(job: Job, view: View) -> str | None:
    """The hosts on which the launch starts, and what names them: ``n[1-4], by mpirun``."""
    found = plan(job)
    by = f", by {found.source}" if found.source else ""
    return f"{fold_hosts(found.hosts)}{by}" if found.hosts else None


@derived
def launch_names(job: Job, view: View) -> str | None:
    """The names that were resolved, and on how many hosts: ``n[1-4] on 4 hosts``."""
    names = {one.name for one in job.probe_names}
    hosts = {one.host for one in job.probe_names}
    return f"{fold_hosts(names)} on {len(hosts)} host{'' if len(hosts) == 1 else 's'}" if names else None


@derived
def launch_logins(job: Job, view: View) -> str | None:
    """The ssh logins, ``n[2-4] from n1, port 2222``; empty where the launcher does not log in."""
    tried = job.probe_logins
    if not tried:
        return "" if plan(job).ssh is None or len(plan(job).hosts) == 1 else None
    port = f", port {tried[0].port}" if tried[0].port is not None else ""
    return f"{fold_hosts(one.peer for one in tried)} from {tried[0].host}{port}"


@derived
def launch_users(job: Job, view: View) -> str | None:
    """The user and programs on the hosts: ``ada (uid 1000); torchrun /opt/env/bin/torchrun (Python 3.11.9)``."""
    users = _by_value((f"{own.user} (uid {own.uid})", own.host) for own in job.probe_own)
    if not any(one.path for one in job.probe_programs):
        names = dict.fromkeys(one.name for one in job.probe_programs)
        return f"{users}; no shell there finds {', '.join(names)}" if users and names else users
    programs = _by_value((f"{one.name} {program_words(one)}", one.host) for one in job.probe_programs)
    return "; ".join(filter(None, (users, programs))) or None


@derived
def launch_paths(job: Job, view: View) -> str | None:
    """The files and folders that were checked; empty where the launch names none that can be."""
    return ", ".join(dict.fromkeys(one.path for one in job.probe_paths)) if job.probe_own else None


@derived
def launch_releases(job: Job, view: View) -> str | None:
    """The NCCL that a program finds first, by release: ``2.21.5 (n[1-3]), 2.20.5 (n4)``.

    Empty where no host has one.
    """
    if not job.probe_own:
        return None
    asked = {own.host for own in job.probe_own}
    known = [(str(i.version), host.name) for host in job.hosts for i in host.libraries if i.version]
    return _by_value((version, host) for version, host in known if host in asked) or ""


@derived
def launch_drivers(job: Job, view: View) -> str | None:
    """The release of the GPU driver, ``550.54.15``; empty where no host has one."""
    return (_by_value((host.driver, host.name) for host in job.hosts if host.driver) or "") if job.probe_own else None


@derived
def launch_meeting(job: Job, view: View) -> str | None:
    """The port where the ranks meet, ``n1 port 29500: free``; empty where the launch names none."""
    if not job.probe_meetings:
        return "" if plan(job).place is None else None
    return "; ".join(f"{met.place} port {met.port}: {met.error or 'free'}" for met in job.probe_meetings[:2])


@derived
def launch_meeting_tries(job: Job, view: View) -> str | None:
    """The hosts that tried the port where the ranks meet: ``n1 port 29500 from n[2-4]``; empty where there is none."""
    met = next(((met.place, met.port) for met in job.probe_meetings), plan(job).place)
    if met is None:
        return ""
    tries = [one.host for one in job.probe_ports if (one.place, one.port) == met]
    return f"{met[0]} port {met[1]} from {fold_hosts(tries)}" if tries else None


@derived
def connections_shown(job: Job, view: View) -> str | None:
    """The number of pairs between which a connection was tried, ``12 pairs of hosts``; empty with a single host."""
    pairs = {(link.host, link.peer) for link in job.probe_links}
    if not pairs:
        return "" if len(job.probe_own) == 1 else None
    return f"{len(pairs)} pairs of hosts"


@derived
def launch_slots(job: Job, view: View) -> str | None:
    """The processes and GPUs, ``8 processes for 8 GPUs``; empty where no host has a GPU, None for an unknown number."""
    found = plan(job)
    gpus = {own.host: own.gpus for own in job.probe_own if own.gpus is not None}
    if gpus and not any(gpus.values()):
        return ""
    return _by_value((f"{found.slots[host]} for {gpus[host]} GPUs", host) for host in gpus if host in found.slots)


def _by_value(told: Iterable[tuple[str, str]]) -> str | None:
    """The values with their hosts, ``a (n[1-3]), b (n4)``; a value that all have is given without hosts."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value, host in told:
        groups[value].append(host)
    if len(groups) < 2:  # noqa: PLR2004
        return next(iter(groups), None)
    return ", ".join(f"{value} ({fold_hosts(hosts)})" for value, hosts in groups.items())
