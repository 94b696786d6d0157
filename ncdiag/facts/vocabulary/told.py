"""Conclusions from what people say: what goes wrong, and which changes help, do not help, or cause failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Setting, Trial
from ncdiag.facts.model.told import RELEASED
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.contradictions import contradicted
from ncdiag.facts.vocabulary.outcome import is_failure, went_on
from ncdiag.facts.vocabulary.runs import runs, seen_trials

_RELEASE = lazy_regex(r"(?P<what>[a-z]+)-(?P<release>\d+(?:\.\d+){0,2})")
_SETTING = lazy_regex(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:=.*)?")
_WELL = frozenset({"works", "faster"})
_ILL = frozenset({"fails", "slower"})
_NO_HELP = frozenset({"unchanged", "other-error"})


@derived
def complains(job: Job, view: View) -> tuple[str, ...]:
    """The kinds of problems that people report, each once."""
    for complaint in job.complaints:
        view.note(complaint)
    return tuple(dict.fromkeys(complaint.what for complaint in job.complaints))


@derived
def cured_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes with which the job works or is fast; for a variable with a value also its name.

    A release that works is another one where the failing one is not shown. Runs in the input take precedence. A change
    that is reported both to help and not to help is left out.
    """
    seen = [name for trial in seen_trials(job, view) for name in _names(trial.change)]
    told = _noted(job, view, _WELL, except_for=_NO_HELP | _ILL)
    others = [
        f"other-{_unit(found['what'])}"
        for label in told
        if (found := _RELEASE.fullmatch(label)) and not _present(found["what"], job, view)
    ]
    before = [without for change in broken_by(job, view) if (without := _without(change))]
    return tuple(dict.fromkeys([*seen, *told, *others, *before]))


def _without(change: str) -> str:
    """What the job had where it worked, if it fails with this change; empty where that has no label.

    The older release for a newer one, and a variable unset for one that is set.
    """
    if change.startswith("other-") and change.removeprefix("other-") in RELEASED:
        return change
    for less, more in (("older-", "newer-"), ("fewer-", "more-")):
        for one, other in ((less, more), (more, less)):
            if change.startswith(one):
                return f"{other}{change.removeprefix(one)}"
    return f"unset {change.partition('=')[0]}" if _SETTING.fullmatch(change) else ""


@derived
def not_cured_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes that did not help, or only led to another error; for a variable with a value also its name.

    For variables that were set in a run that failed, only the value counts: another value may help.
    """
    told = _noted(job, view, _NO_HELP, except_for=_WELL)
    well = {label for label, trial in told_trials(job, view) if trial.outcome in _WELL}
    seen = [label for label in set_in_vain(job, view) if label not in well]
    return tuple(dict.fromkeys([*told, *seen]))


@derived
def broken_by(job: Job, view: View) -> tuple[str, ...]:
    """The changes with which the job fails or is slower, and works without; for a variable also its name."""
    return _noted(job, view, _ILL, except_for=_WELL)


@derived
def told_trials(job: Job, view: View) -> tuple[tuple[str, Trial], ...]:
    """The trials that people report, each with the label of its change.

    A release that is compared with no other release in the sentence is the older or newer one of those in the input.
    """
    return tuple((_beside(trial.change, job, view), trial) for trial in job.trials)


def _beside(change: str, job: Job, view: View) -> str:
    """Return ``older-nccl`` for ``nccl-2.18`` where the job has a newer release.

    The change itself where that is unknown.
    """
    found = _RELEASE.fullmatch(change)
    if found is None:
        return change
    unit = _unit(found["what"])
    tried, present = _parts(found["release"]), _parts(_present(found["what"], job, view))
    shared = min(len(tried), len(present))
    if tried[:shared] == present[:shared]:
        return change
    return f"{'older' if tried < present else 'newer'}-{unit}"


def _unit(what: str) -> str:
    """The unit that counts the releases of this component: every framework is one."""
    return what if what in RELEASED else "framework"


def _present(what: str, job: Job, view: View) -> str:
    """The only release of the component in the input, or else outside trials; empty for none or several."""
    shown: set[str] = set()
    version = view.version() if what == "nccl" else None
    if version is not None and version.low == version.high:
        shown = {str(version.low)}
    elif what == "driver":
        shown = {host.driver or gpu.driver or "" for host in job.hosts for gpu in host.gpus} - {""}
    names = {what, "pytorch"} if what == "torch" else {what}
    told = {value.rpartition(" ")[2] for c in job.contexts if (value := c.value).partition(" ")[0] in names} - names
    found = shown or told
    return next(iter(found)) if len(found) == 1 else ""


def _parts(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part.isdigit())


@derived
def set_in_vain(job: Job, view: View) -> Mapping[str, tuple[Span, ...]]:
    """Variables set in the very run that failed, as ``NAME=VALUE``, each with the lines that show it.

    NCCL prints which variables each process read; a process counts if it failed itself, or if all ran at once.
    """
    failed = [event for event in job.events if is_failure(event, view) and not went_on(event, view)]
    processes = {(event.host, event.pid) for event in failed if event.pid is not None}
    found: dict[str, tuple[Span, ...]] = {}
    for rank in job.ranks if failed else ():
        if (rank.host, rank.pid) in processes or not (runs(job, view) or processes):
            found |= {label: spans for setting in rank.settings.values() for label, spans in _set(setting)}
    for run in runs(job, view):
        env = run.env if run.ended is False else {}
        found |= {f"{name}={value}": (run.span,) for name, value in env.items()}
    return found


def _set(setting: Setting) -> Iterator[tuple[str, tuple[Span, ...]]]:
    span = setting.provenance.get("") or setting.provenance.get("text")
    if setting.is_set and setting.text and span is not None:
        yield f"{setting.name}={setting.text}", (span,)


def _noted(job: Job, view: View, outcomes: frozenset[str], *, except_for: frozenset[str]) -> tuple[str, ...]:
    labels: list[str] = []
    trials = told_trials(job, view)
    contrary = {label for label, trial in trials if trial.outcome in except_for}
    for label, trial in trials:
        if trial.outcome in outcomes and label not in contrary:
            view.note(trial)
            labels += _names(label)
    return tuple(dict.fromkeys(labels))


def _names(change: str) -> Iterator[str]:
    yield change
    name, sign, _ = change.partition("=")
    if sign and not change.startswith('"'):
        yield name


@derived
def told_context(job: Job, view: View) -> tuple[str, ...]:
    """What people say about the environment, in lower case: ``istio``, ``aws``, ``wsl``, ``h100``, ``8 gpus``.

    Statements that the output of tools contradicts are left out.
    """
    wrong = {context.value for context, _ in contradicted(job, view)}  # which may be told in another sense as well
    held = [context for context in job.contexts if context.told and context.value not in wrong]
    for context in held:
        view.note(context)
    return tuple(dict.fromkeys(context.value for context in held))


@derived
def wants(job: Job, view: View) -> tuple[str, ...]:
    """What people want NCCL to do, as labels: ``use-sockets``, ``use-all-nics``."""
    for want in job.wishes:
        view.note(want)
    return tuple(dict.fromkeys(want.what for want in job.wishes))
