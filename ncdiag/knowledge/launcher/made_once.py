"""Files that rank 0 makes for all ranks, such as the index of a data set, and that another rank does not find."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_CLASS = "FileNotFoundError"
_INDEX = lazy_regex(
    r"\[Errno 2\][^:]{0,40}: ?['\"][^'\"]{0,400}(?:"
    r"-\w{0,40}Dataset-(?:train|valid|test)-\w{1,40}_index\.npy"
    r"|_indexmap_[\w.]{1,200}\.npy"
    r")['\"]"
)
"""Megatron's indexes, which rank 0 makes (megatron/core/datasets/gpt_dataset.py, megatron/data/gpt_dataset.py)."""


@derived_of(EXCEPTION)
def is_made_elsewhere(event: Event, view: View) -> bool:
    """Did a rank on another host not find an index that rank 0 makes for all ranks?

    False if rank 0 raised an exception, or if a rank on its host lacks the index as well: then it was not made, or was
    not complete yet.
    """
    if not _lacks_index(event) or not is_open_failure(event, view):
        return False
    return not view.remembered(("no index beside rank 0",), lambda: _is_lacking_at_first(view))


def _is_lacking_at_first(view: View) -> bool:
    """Did rank 0 fail, or does a rank on its host lack the index?"""
    raised = [event for event in view.job.events if event.event == EXCEPTION]
    return any(each.rank == 0 or (_lacks_index(each) and _is_beside_first(each, view)) for each in raised)


def _lacks_index(event: Event) -> bool:
    said = event.fields.get("exception") == _CLASS and _INDEX.search(str(event.fields.get("error", "")))
    return event.event == EXCEPTION and bool(said)


def _is_beside_first(event: Event, view: View) -> bool:
    """Is the rank of the line on the host of rank 0, by the known hosts or else by the number of processes per host?"""
    hosts = {rank.rank: rank.host for rank in view.job.ranks if rank.host is not None}
    first, own = hosts.get(0), event.host or hosts.get(event.rank)
    if first is not None and own is not None:
        return first == own
    on_each = {launch.nproc_per_node for launch in view.job.launches} - {None}
    return event.rank is not None and len(on_each) == 1 and event.rank < (on_each.pop() or 0)
