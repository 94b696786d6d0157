"""What follows from what people say: what goes wrong, which change cures it, which does not, and which breaks it."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Conflict, Context, Job
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
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


@derived
def told_conflicts(job: Job, view: View) -> tuple[Conflict, ...]:
    """Where the input shows something else than a person says: the release of NCCL, the GPUs of a host.

    What a tool printed is believed.
    """
    version, counts = view.version(), {len(host.gpus) for host in job.hosts if is_closed(host, "gpus") and host.gpus}
    release = _only(job, "nccl-version")
    gpus = _only(job, "gpu-count")
    found: list[Conflict] = []
    if release is not None and version is not None and version.low == version.high:
        number, shown = release.value.rpartition(" ")[2], str(version.low)
        if not f"{shown}.".startswith(f"{number}."):
            found.append(_conflict(release, "nccl_version", number, shown))
    if gpus is not None and counts and (count := gpus.value.partition(" ")[0]).isdigit() and int(count) not in counts:
        found.append(_conflict(gpus, "gpus", count, str(max(counts))))
    return tuple(found)


def _only(job: Job, kind: str) -> Context | None:
    """The one thing of that kind that is told; None where several are, of which each may be another's."""
    found = {context.value: context for context in job.contexts if context.kind == kind}
    return next(iter(found.values())) if len(found) == 1 else None


def _conflict(context: Context, field: str, told: str, shown: str) -> Conflict:
    span = context.provenance.get("")
    return Conflict("Told", field, (told, shown), (span,) if span else (), shown)


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
    """What people say of the place, in lower case: ``istio``, ``aws``, ``wsl``, ``h100``, ``8 gpus``."""
    for context in job.contexts:
        view.note(context)
    return tuple(dict.fromkeys(context.value for context in job.contexts))


@derived
def wants(job: Job, view: View) -> tuple[str, ...]:
    """What people want NCCL to do, as labels: ``use-sockets``, ``use-all-nics``."""
    for want in job.wishes:
        view.note(want)
    return tuple(dict.fromkeys(want.what for want in job.wishes))
