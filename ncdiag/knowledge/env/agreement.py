"""Values and choices that differ between ranks, or between a log and the facts of its host."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import ComparedChoice, Difference, Job, Rank
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.nccl.environment import OURS
from ncdiag.nccl.on_host.compare import Comparison, compared

_LIBRARIES = frozenset({OURS, "rccl", "hccl", "ofi-nccl", "nccl-plugin", "libfabric", "ucx", "nvshmem", "lightcc"})
"""Programs whose ranks communicate according to their variables; launchers set different values on each rank."""


@derived
def agreement(difference: Difference, view: View) -> Literal["required", "not required", "not known", "no variable"]:
    """Must the ranks agree on the variable that differs?

    ``no variable`` for other differences, which other rules cover.
    """
    known = environment.variables().get(difference.name)
    if difference.what != "setting" or known is None or known.owner not in _LIBRARIES:
        return "no variable"
    for span in difference.provenance:
        view.note(difference, span)
    must = environment.must_agree(known.name, between_hosts=not _differs_on_a_host(known.name, view))
    return "not known" if must is None else "required" if must else "not required"


def _differs_on_a_host(name: str, view: View) -> bool:
    """Do ranks of one host have different values of the variable?"""
    told = ({s.text for r in view.ranks_on(h.name) if (s := r.settings.get(name)) is not None} for h in view.job.hosts)
    return any(len(values) > 1 for values in told)


@derived
def agreement_why(difference: Difference, view: View) -> str:
    """Why the ranks must agree on the variable; empty if no reason is known."""
    del view
    known = environment.variables().get(difference.name)
    return known.agree_why if known is not None else ""


_SET_UP = "channel-counts"
"""The line that each rank prints after it has read the variables of the setup."""


@derived
def set_on_some(job: Job, view: View) -> str:
    """A variable that must be equal on all hosts but is set on only some: ``NCCL_ALGO on n1, not on n2``; else empty.

    Only ranks count whose log shows variables and continues to the end of the setup. Empty for a job on one host.
    """
    if job.nhosts == 1:
        return ""
    whole = {(event.host, event.pid) for event in job.events if event.event == _SET_UP}
    ranks = [rank for rank in job.ranks if rank.settings and (rank.host, rank.pid) in whole]
    for name in dict.fromkeys(name for rank in ranks for name in rank.settings):
        without = next((rank for rank in ranks if view.setting(rank, name) is None), None)
        if without is None or not (_is_ours(name) and environment.must_agree(name, between_hosts=True)):
            continue
        having = next(rank for rank in ranks if name in rank.settings)
        if having.host != without.host:
            view.note(having.settings[name])
            return f"{name} on {having.host}, not on {without.host}"
    return ""


def _is_ours(name: str) -> bool:
    """Is it a variable of NCCL?"""
    known = environment.variables().get(name)
    return known is not None and known.owner == OURS


_FIELDS = {
    "bootstrap interface": "bootstrap_interface", "socket interfaces": "socket_interfaces", "network": "net",
    "RDMA ports": "net_devices", "GID index": "gids_used", "GPUDirect RDMA level": "gdr",
    "setting": "settings",
}  # fmt: skip
"""The field of a rank that holds a choice as its log shows it, by choice."""


@derived
def compared_choices(job: Job, view: View) -> tuple[ComparedChoice, ...] | None:
    """The choices that could be compared, equal ones of several hosts once; None when there were none."""
    groups: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
    for one in compared(view, logs_alone=False):
        groups[one.choice, one.predicted, one.logged].append(one)
    ranks = {(rank.host, rank.rank): rank for rank in job.ranks} if groups else {}
    found = tuple(_fact(same, ranks[same[0].host, same[0].rank], view) for same in groups.values())
    return found or None


def _fact(same: list[Comparison], rank: Rank, view: View) -> ComparedChoice:
    first = same[0]
    host = view.host(first.host)
    span = rank.provenance.get(_FIELDS[first.choice]) or rank.provenance.get("")
    return ComparedChoice(
        choice=first.choice,
        predicted=first.predicted,
        logged=first.logged,
        host=first.host,
        rank=first.rank,
        nhosts=len({one.host for one in same}),
        in_container=host.in_container if host is not None else None,
        plugin=rank.net_plugin,
        provenance={"": span} if span else {},
    )


@derived
def likely_reason(compared_choice: ComparedChoice, view: View) -> str:
    """The most likely reason for the difference, as text for messages."""
    if compared_choice.choice in {"network", "RDMA ports"} and compared_choice.plugin:
        return f"the plugin {compared_choice.plugin} chooses for itself"
    host = view.host(compared_choice.host)
    if compared_choice.choice == "setting" or (host is not None and host.conf_settings):
        return "a conf file that has changed since the job began, or that another user's job reads"
    if compared_choice.choice == "GPUDirect RDMA level":
        return "a variable that the input does not show"
    if compared_choice.in_container:
        return "another view inside the container than in the output beside the log"
    return "a variable or conf file that the input does not show, or output from outside the job's container"


@derived
def where(compared_choice: ComparedChoice, view: View) -> str:
    """The hosts with this difference: ``node1`` or ``node1 and 3 more hosts``."""
    more = (compared_choice.nhosts or 1) - 1
    name = str(compared_choice.host)
    return f"{name} and {more} more host{'s' if more > 1 else ''}" if more else name
