"""What follows from what people say: what goes wrong, which change cures it, which does not, and which breaks it."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.contradictions import contradicted
from ncdiag.facts.vocabulary.runs import seen_trials

_WELL = frozenset({"works", "faster"})
_ILL = frozenset({"fails", "slower"})
_NO_HELP = frozenset({"unchanged", "other-error"})


@derived
def complains(job: Job, view: View) -> tuple[str, ...]:
    """What people say goes wrong, each kind of trouble once."""
    for complaint in job.complaints:
        view.note(complaint)
    return tuple(dict.fromkeys(complaint.what for complaint in job.complaints))


@derived
def cured_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes with which it works or is fast; of a variable with a value also the name alone.

    Runs that the input shows count first; what is told both ways, to help and not to help, is left out.
    """
    seen = [name for trial in seen_trials(job, view) for name in _names(trial.change)]
    told = _noted(job, view, _WELL, except_for=_changes(job, _NO_HELP | _ILL))
    return tuple(dict.fromkeys([*seen, *told]))


@derived
def not_cured_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes that did not help, or only led to another error; of a variable with a value also its name."""
    return _noted(job, view, _NO_HELP, except_for=_changes(job, _WELL))


@derived
def broken_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes with which it fails or is slower where it works without; of a variable also its name."""
    return _noted(job, view, _ILL, except_for=_changes(job, _WELL))


def _changes(job: Job, outcomes: frozenset[str]) -> frozenset[str]:
    return frozenset(trial.change for trial in job.trials if trial.outcome in outcomes)


def _noted(job: Job, view: View, outcomes: frozenset[str], *, except_for: frozenset[str]) -> tuple[str, ...]:
    labels: list[str] = []
    for trial in job.trials:
        if trial.outcome in outcomes and trial.change not in except_for:
            view.note(trial)
            labels += _names(trial.change)
    return tuple(dict.fromkeys(labels))


def _names(change: str) -> Iterator[str]:
    yield change
    name, sign, _ = change.partition("=")
    if sign:
        yield name


@derived
def told_context(job: Job, view: View) -> tuple[str, ...]:
    """What people say of the place, in lower case: ``istio``, ``aws``, ``wsl``, ``h100``, ``8 gpus``.

    What tools printed otherwise is left out.
    """
    wrong = {(context.kind, context.value) for context, _ in contradicted(job, view)}
    held = [context for context in job.contexts if (context.kind, context.value) not in wrong]
    for context in held:
        view.note(context)
    return tuple(dict.fromkeys(context.value for context in held))


@derived
def wants(job: Job, view: View) -> tuple[str, ...]:
    """What people want NCCL to do, as labels: ``use-sockets``, ``use-all-nics``."""
    for want in job.wishes:
        view.note(want)
    return tuple(dict.fromkeys(want.what for want in job.wishes))
