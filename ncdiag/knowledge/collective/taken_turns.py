"""What speaks against a late rank where one GPU computes and others wait: turns, another job's GPU, another fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Gpu, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures

_LOST_LINKS = {
    "ib-async-event": ("what", "port error"), "hca-link": ("link_state", "DOWN"), "interface-link-down": None,
    "carrier-lost": None,
}  # fmt: skip
"""Lines about a link that is gone, by the field that says so where the event alone does not."""
_TURNS = "send-recv"
"""What people say where ranks send to the next one, as the stages of a pipeline do."""
_STAGES = lazy_regex(
    r"(?i)\b(?:pp|pipeline[-_ ](?:model[-_ ])?parallel(?:[-_ ]?size)?)\s?[=: ]\s?(?:[2-9]|\d{2,3})\b"
    r"|\bpipeline\s(?:parallel|stages?)"
)
_OTHERS = lazy_regex(
    r"(?i)\b(?:colleagues?|co-?workers?|somebody|someone"
    r"|(?:an)?other (?:jobs?|users?|persons?|projects?|programs?|process(?:es)?))\b"
)
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_CHOSEN = lazy_regex(_VISIBLE + r"=['\"]?(?P<list>\d{1,3}(?:,\d{1,3}){0,40})")
_LIKE = 0.1
"""The share by which the memory of the ranks of one program usually differs at most."""


@derived
def may_take_turns(job: Job, view: View) -> bool:
    """Does the text mention pipeline parallelism, in which one stage computes while the others wait for it?"""
    if _TURNS in {context.value for context in job.contexts}:
        return True
    said = [complaint.text for complaint in job.complaints] + [launch.text or "" for launch in job.launches]
    return any(_STAGES.search(text) for text in said)


@derived
def has_other_cause(job: Job, view: View) -> bool:
    """Does a line report another cause for which ranks wait, such as a link that is down?"""
    if any(_is_lost_link(event) for event in job.events if event.event in _LOST_LINKS):
        return True
    return any(event.kind == "cause" for event in open_failures(job, view))


def _is_lost_link(event: Event) -> bool:
    needed = _LOST_LINKS[event.event]
    return needed is None or event.fields.get(needed[0]) == needed[1]


def may_be_anothers(late: Iterable[Gpu], busy: Sequence[Gpu], job: Job) -> bool:
    """May what computes be no rank of the job: do people say so, do the ranks see other GPUs, is its memory another?"""
    late = list(late)
    said = [complaint.text for complaint in job.complaints]
    if any(_OTHERS.search(text) for text in said):
        return True
    values = [f"{_VISIBLE}={each.text or ''}" for each in job.settings if each.name == _VISIBLE]
    for text in (*values, *said, *(launch.text or "" for launch in job.launches)):
        chosen = _CHOSEN.search(text)
        numbers = {int(number) for number in chosen["list"].split(",")} if chosen else set()
        # a rank that sees one GPU says nothing of those of the others
        if len(numbers) > 1 and any(gpu.index not in numbers for gpu in late):
            return True
    return _differ(late, [gpu for gpu in busy if gpu not in late])


def _differ(late: Sequence[Gpu], waiting: Sequence[Gpu]) -> bool:
    """Do processes on the waiting GPUs hold alike much memory, and those on the others another amount?"""
    held, others = _held(waiting), _held(late)
    if not held or not others or max(held) > min(held) * (1 + _LIKE):
        return False
    return any(not min(held) * (1 - _LIKE) <= each <= max(held) * (1 + _LIKE) for each in others)


def _held(gpus: Sequence[Gpu]) -> list[int]:
    return [sum(gpu.process_mib.values()) for gpu in gpus if gpu.process_mib]
