"""NCCL variables that a launcher passes on to the ranks, or does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import is_container, is_multi_host
from ncdiag.nccl.vocabulary.filters import unheeded_settings

_PASSES_ON_REQUEST = {"mpirun", "mpiexec", "orterun", "prterun"}
_FORWARDS_ALL = {"srun", "torchrun", "deepspeed", "docker", "python", "accelerate", "horovodrun"}


def values_left_behind(launch: Launch, view: View) -> dict[str, str]:
    """NCCL variables that do not reach the other hosts, with their values, for launchers that pass on only on request.

    They are set before the command, or the choices of another host show that they are not set there. Variables that
    NCCL prints on two hosts are left out: they reached both, for example by the start-up files of the shells.
    """
    if launch.program in _FORWARDS_ALL or is_container(launch, view):
        return {}
    values: dict[str, str] = dict(launch.prefix_env) if _spans_hosts(launch, view) else {}
    if launch.program in _PASSES_ON_REQUEST:
        values |= {s.name: s.text or "" for s in unheeded_settings(view.job, view)}
    printed = view.remembered(("printed by several hosts",), lambda: _printed_by_several(view.job))
    passed = {*launch.forwarded, *launch.env, *printed}
    return {name: values[name] for name in sorted(values) if name.startswith("NCCL_") and name not in passed}


def _printed_by_several(job: Job) -> set[str]:
    """The variables that NCCL read on more than one host, according to its log."""
    hosts: dict[str, set[str]] = defaultdict(set)
    for setting in job.settings:
        if setting.origin == "log echo" and setting.host is not None:
            hosts[setting.name].add(setting.host)
    return {name for name, found in hosts.items() if len(found) > 1}


def _spans_hosts(launch: Launch, view: View) -> bool | None:
    """Does the line start ranks on several hosts? If its host file is not shown, the hosts of the ranks decide."""
    several = is_multi_host(launch, view)
    if several is not None or not launch.hostfile or len(view.job.launches) > 1:
        return several
    hosts = {rank.host: rank for rank in view.job.ranks if rank.rank is not None}
    if len(hosts) > 1:
        for rank in list(hosts.values())[:2]:
            view.note(rank)
        return True
    return None


@derived
def left_behind(launch: Launch, view: View) -> tuple[str, ...]:
    """The NCCL variables that the launcher does not pass on, by name."""
    return tuple(values_left_behind(launch, view))


@derived
def values_told(job: Job, view: View) -> Mapping[str, frozenset[str | None]]:
    """The values of each variable that is set, by the input's processes, hosts and launch commands.

    Variables that a launcher does not pass on are left out.
    """
    behind = {name for launch in job.launches for name in values_left_behind(launch, view)}
    held: dict[str, set[str | None]] = {}
    for setting in job.settings:
        if setting.is_set and not (setting.origin == "launcher" and setting.name in behind):
            held.setdefault(setting.name, set()).add(setting.text)
    for launch in job.launches:
        passed = {name: text for name, text in launch.prefix_env.items() if name not in behind}
        for name, text in (launch.env | passed).items():
            held.setdefault(name, set()).add(text)
    return {name: frozenset(texts) for name, texts in held.items()}
