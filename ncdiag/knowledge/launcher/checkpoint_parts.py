"""DeepSpeed checkpoints, which have a file for each rank: was one written by another number of ranks than load it?"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_REFUSED, _PART = "checkpoint-ranks-differ", "checkpoint-part"
_NO_FILES = lazy_regex(r"len\(self\.ckpt_list\) > 0")
"""The assertion of DeepSpeed's loader that fails if a rank has no file (deepspeed/runtime/state_dict_factory.py)."""
_NOT_THERE = lazy_regex(r"\[Errno 2\].{0,400}zero_pp_rank_\d{1,6}_mp_rank_")


@derived_of(_REFUSED, EXCEPTION)
def is_of_other_ranks(event: Event, view: View) -> bool:
    """Did loading a checkpoint fail because another number of ranks wrote it?

    Either the program says so, or a rank finds no file and its number is above the last one that has a file.
    """
    if not is_open_failure(event, view):
        return False
    if event.event == _REFUSED:
        return True
    asserted, error = (str(event.fields.get(name, "")) for name in ("asserted", "error"))
    if not (_NO_FILES.search(asserted) or _NOT_THERE.search(error)) or event.rank is None:
        return False
    last = last_part(view.job, view)
    return last is not None and event.rank > last


@derived
def last_part(job: Job, view: View) -> int | None:
    """The highest rank that has a file in a list of the checkpoint's files; None without such a list.

    Also None with tensor parallelism, and if numbers are missing in between: ``ls`` sorts 10 before 2, so a part of its
    output need not contain the highest number.
    """
    found: list[tuple[int, Event]] = []
    for event in job.events:
        part, model_part = event.fields.get("part"), event.fields.get("model_part")
        if event.event != _PART or not isinstance(part, int):
            continue
        if model_part:
            return None
        found.append((part, event))
    if not found:
        return None
    part, event = max(found, key=lambda each: each[0])
    numbers = {each for each, _ in found}
    if len(numbers) != part - min(numbers) + 1:
        return None
    view.note(event)
    return part
