"""NCCL_HOSTID, by which NCCL decides which ranks are on one machine: does it join machines that are not one?"""

from __future__ import annotations

from collections import defaultdict

from ncdiag.facts.derived import derived, derived_for
from ncdiag.facts.model import Event, Job, Launch, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.launches import is_multi_host as names_several_hosts
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.facts.vocabulary.platforms import platforms

_VARIABLE = "NCCL_HOSTID"
_DUPLICATE = "duplicate-gpu"
_MANIFEST = "manifest"
_HOSTFILE = "hostfile"
"""The ``program`` of a launch of which only the host file was shown."""
_COUNTS = "comm-nodes"


@derived
def joining_host_id(event: Event, view: View) -> str:
    """The one value of NCCL_HOSTID that pods of a manifest, or several hosts, have as a GPU seems to be used twice."""
    if event.event != _DUPLICATE:
        return ""
    of_all = [each for each in view.job.settings if _is_literal(each) and each.origin == _MANIFEST]
    if of_all and POD in platforms(view.job, view):
        view.note(of_all[0])
        return of_all[0].text or ""
    held = [
        each for host in view.job.hosts if (each := view.setting(host, _VARIABLE)) is not None and _is_literal(each)
    ]
    if len(held) > 1 and len({each.text for each in held}) == 1:
        view.note(held[0])
        view.note(held[1])
        return held[0].text or ""
    return ""


def _is_literal(setting: Setting) -> bool:
    text = setting.text or ""
    return setting.name == _VARIABLE and setting.is_set is True and bool(text) and not set("$`") & set(text)


@derived_for(_VARIABLE)
def has_one_for_all(setting: Setting, view: View) -> bool | None:
    """Do several hosts get this NCCL_HOSTID, by the launch line or because NCCL counts their ranks on one node?

    None when the number of hosts is unknown.
    """
    if not _is_literal(setting):
        return False
    if counted_as_one(view.job, view):
        return True
    given = [_gives_to_several(launch, view) for launch in view.job.launches if launch.env.get(_VARIABLE)]
    return True if True in given else None if None in given or not given else False


def _gives_to_several(launch: Launch, view: View) -> bool | None:
    value = launch.env[_VARIABLE]
    if set("$`") & set(value):
        return False
    several = names_several_hosts(launch, view)
    listed = next((other for other in view.job.launches if other.program == _HOSTFILE), None)
    if several is not None or listed is None or not launch.hostfile:
        return several
    view.note(listed)
    return len({host.name for host in listed.hosts}) > 1


@derived
def counted_as_one(job: Job, view: View) -> bool:
    """Did something fail while NCCL counts all ranks on one node, although their log lines come from several hosts?

    Without NVLink between hosts (MNNVL), only equal host ids cause this. If two hosts print the same rank, the lines
    are from two jobs, as when each host is tested alone.
    """
    held: dict[object, list[Event]] = defaultdict(list)
    for event in job.events:
        if event.event == _COUNTS and event.host and _counts_one_node(event):
            held[event.fields.get("nranks")].append(event)
    for events in held.values():
        first = events[0]
        places = {(event.rank, event.host) for event in events}
        if len(places) > len({event.rank for event in events}):
            continue
        other = next((e for e in events if e.host != first.host and e.rank != first.rank), None)
        if other is not None and open_failures(job, view):
            view.note(first)
            view.note(other)
            return True
    return False


def _counts_one_node(event: Event) -> bool:
    fields = event.fields
    return fields.get("nodes") == 1 and not fields.get("mnnvl") and fields.get("local_ranks") == fields.get("nranks")
