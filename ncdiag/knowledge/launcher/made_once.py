"""Files that the first rank makes for all, such as the index of a data set: did another rank not find them?"""

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
    """Did a rank not find an index that rank 0 makes for all, while rank 0 did not fail itself?"""
    said = event.fields.get("exception") == _CLASS and _INDEX.search(str(event.fields.get("error", "")))
    if not said or not is_open_failure(event, view):
        return False
    return not any(other.rank == 0 and other.event == EXCEPTION for other in view.job.events)
