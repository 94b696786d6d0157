"""Facts that exclude a candidate, for findings and suspects alike.

A mechanism is a function of a rule and the `Scene`: it returns why the rule cannot be the cause, with the lines that
show it, or None. It depends on what the rule declares: its area, the complaints that it causes, and the words of its
name. What is excluded is not a candidate; the report lists it as ruled out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from ncdiag.base.errors import contained
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.engine.compiling import program_of
from ncdiag.engine.in_use import first, lines_of_connecting, lines_of_gdr, lines_of_rdma
from ncdiag.engine.results import Finding, Reason
from ncdiag.engine.schema import Rule
from ncdiag.engine.switched_off import said_off
from ncdiag.engine.traces import CAPABILITIES, PLATFORMS, capabilities_needed, needed
from ncdiag.facts.model import SET_UP, Complaint, Fact, SeenComplaint, What
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import capabilities, named_gpus
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.facts.vocabulary.told import cured_by, not_cured_by
from ncdiag.messages.about import events_of
from ncdiag.messages.vocabulary.phases import MEETING, phase_shown
from ncdiag.messages.vocabulary.reasons import error_name
from ncdiag.messages.vocabulary.seen import seen_complaints

NO_FAILURE: frozenset[What] = frozenset({"slow", "not-used", "memory-grows"})
"""Complaints about jobs that run: that they run without a part is no evidence on it."""
_STARTING: frozenset[What] = frozenset({"cannot-start", "fails-at-init"})
_NO_START: frozenset[What] = frozenset({"cannot-start"})
_WHILE_RUNNING: frozenset[What] = frozenset({"crashes", "slow", "not-used", "wrong-results", "memory-grows"})
"""Complaints about a job that runs: a rule that causes one of them may act later."""
_SEEN_AT_THE_END = NO_FAILURE | {"wrong-results"}
"""Complaints about jobs that end."""
_NAMED: What = "fails"
"""The complaint that a sentence seems to make that only names an error."""
_HAD_RUN, _UNHARMED = "had-run", "unharmed"
_INSIDE = frozenset({"p2p", "shm", "nvlink"})
"""Areas of rules about the paths between the GPUs of a host."""
_BETWEEN = frozenset({"p2p", "nvlink"})
"""Those that nothing but GPUs takes; processes without one use shared memory, too."""
_ALONE = lazy_regex(r"gb10|spark", re.IGNORECASE)
"""Names of a GPU that is the only one of its machine (docs.nvidia.com/dgx/dgx-spark)."""
_FAULTS = frozenset({"SIGKILL", "SIGBUS", "SIGSEGV", "SIGILL", "SIGFPE"})
"""Signals of the kernel; SIGTERM and SIGINT come from launchers, and a program sends SIGABRT to itself."""
_SWITCHES = {
    "_DISABLE": ("1",), "_ENABLE": ("0",), "_LEVEL": ("0", "LOC"), "NCCL_NET": ("Socket",), "NCCL_PROTO": ("Simple",),
    "_ASYNC_ERROR_HANDLING": ("0",), "_BLOCKING_WAIT": ("1",),
}  # fmt: skip
"""The values that switch something off, by the ends of the names of variables."""
_RENDEZVOUS, _STRONG = frozenset({"rendezvous", "tcp-store", "master-address"}), 2
"""Objects of the cells of rules about the rendezvous, and the weight from which a cell says what a rule is about."""
_TCP = "socket"
"""The area of rules about the connections over TCP."""
_OF_RDMA = frozenset({
    "network-choice", "rdma-device", "rdma-device-file", "rdma-driver", "verbs-library", "verbs-provider", "efa",
})  # fmt: skip
"""What the strongest cells of a rule are about that leaves a job without any RDMA."""
_ONE_HOST = "one-host"
_LINES = 3


class Part(NamedTuple):
    """A part of NCCL that a trial excludes: its name, and the areas of its rules.

    ``shown``: further areas whose rules a success speaks for, and a failure does not exclude.
    """

    name: str
    areas: frozenset[str]
    for_it: bool = True
    shown: frozenset[str] = frozenset()


_RDMA = Part("RDMA", frozenset({"ib", "roce"}))
PARTS = {
    "NCCL_IB_DISABLE=1": _RDMA,
    "NCCL_NET=Socket": _RDMA,
    _ONE_HOST: Part("the network between hosts", _RDMA.areas | {"socket", "cloud"}, shown=frozenset({"gdr"})),
    "one-gpu": Part("everything between GPUs", _RDMA.areas | {"p2p", "shm", "nvlink"}, for_it=False),
    "no-container": Part("the container", frozenset({"container"})),
    "gloo": Part("NCCL", _RDMA.areas | {"gdr", "nvlink", "p2p", "plugin", "shm"}, for_it=False),
    "NCCL_P2P_DISABLE=1": Part("peer access", frozenset({"p2p"})),
    "NCCL_SHM_DISABLE=1": Part("shared memory", frozenset({"shm"})),
}
"""The part that each of these trials excludes (NCCL user guide, environment variables), as shown by its failure.

``for_it``: its success shows the part, too.
"""


class Scene:
    """What the mechanisms ask of a job, computed once for all rules."""

    def __init__(
        self, view: View, has_word: Callable[[str], bool] | None = None, clear: Container[str] = ()
    ) -> None:  # fmt: skip
        """``has_word``: whether a word that a pattern matches is in the input; None if its words are not known.

        ``clear``: the codes of the rules that were judged, and found nothing.
        """
        self.view, self._has_word, self.clear = view, has_word, clear
        self._shown: dict[str, bool] = {}

    @functools.cached_property
    def complaints(self) -> tuple[Complaint | SeenComplaint, ...]:
        """The complaints of people, or else the problems that the input shows."""
        return self.view.job.complaints or seen_complaints(self.view.job, self.view)

    @functools.cached_property
    def troubles(self) -> frozenset[What]:
        """The kinds of the complaints."""
        return frozenset(complaint.what for complaint in self.complaints)

    @functools.cached_property
    def signals(self) -> dict[str, Span]:
        """The signals that ended processes, each with its first line; not those that launchers and programs send."""
        found: dict[str, Span] = {}
        for event in open_failures(self.view.job, self.view):
            name, span = error_name(event, self.view), event.provenance.get("")
            if name in _FAULTS and span is not None:
                found.setdefault(name, span)
        return found

    @functools.cached_property
    def in_vain(self) -> frozenset[str]:
        """The labels of changes that did not help; a ``..._DISABLE`` without a value counts as set.

        A failure that somebody describes for one host alone is the change ``one-host`` without success.
        """
        told = with_values(not_cured_by(self.view.job, self.view))
        return told | {_ONE_HOST} if self.on_one_host else told

    @functools.cached_property
    def on_one_host(self) -> tuple[Complaint, ...]:
        """The failures that somebody describes for one host alone."""
        told = (each for each in self.view.job.complaints if each.what not in NO_FAILURE)
        return tuple(each for each in told if each.scope == _ONE_HOST)

    @functools.cached_property
    def cured(self) -> frozenset[str]:
        """The labels of changes with which the job works; a ``..._DISABLE`` without a value counts as set."""
        return with_values(cured_by(self.view.job, self.view))

    def shows(self, platform: str) -> bool:
        """Whether a word of the platform is in the input; True if the words of the input are not known."""
        if self._has_word is None:
            return True
        if platform not in self._shown:
            self._shown[platform] = self._has_word(PLATFORMS[platform])
        return self._shown[platform]


Mechanism = Callable[[Rule, Scene], "Reason | None"]


def causes(rule: Rule) -> frozenset[What]:
    """The complaints that a rule causes as far as it declares them."""
    return frozenset(rule.suspect.complaints) if rule.suspect else frozenset()


def other_trouble(rule: Rule, scene: Scene) -> Reason | None:
    """It causes none of the complaints: it makes a job slow or keeps it from starting, and the job goes wrong."""
    makes = causes(rule)
    if not makes or not scene.complaints:
        return None
    if scene.complaints[0].what == "wrong-results" and makes <= NO_FAILURE | _STARTING:
        return Reason("results are wrong, and it does not change results", _lines(scene.complaints[:1]))
    if makes <= NO_FAILURE and scene.troubles.isdisjoint(NO_FAILURE):
        return Reason("the job fails, and it can only make a job slower", _lines(scene.complaints))
    return None


def works(rule: Rule, scene: Scene) -> Reason | None:
    """It would leave a part unused that is in use: GPUDirect RDMA, or in a job that is only slow, RDMA itself."""
    makes = causes(rule)
    if "not-used" not in makes:
        return None
    if rule.area == "gdr" and makes <= NO_FAILURE | {"fails"}:
        spans = lines_of_gdr(scene.view)
        return Reason("GPUDirect RDMA is in use", spans) if spans else None
    most = max((weight for _, _, weight in rule.cells), default=0)
    about = {what for what, _, weight in rule.cells if weight == most}
    if about and about <= _OF_RDMA and scene.troubles <= NO_FAILURE:
        spans = scene.view.remembered(("RDMA is on",), lambda: lines_of_rdma(scene.view))
        return Reason("RDMA is in use", spans) if spans else None
    return None


def fails_without(rule: Rule, scene: Scene) -> Reason | None:
    """The job also fails without the part of the rule: on one host alone, without peer access."""
    if not causes(rule) - NO_FAILURE:
        return None
    for label, part in PARTS.items():
        if rule.area in part.areas and label in scene.in_vain:
            text = f"it also fails with {in_words(label)}, which excludes {part.name}"
            lines = tuple(_of_trial(label, scene.view))[:_LINES]
            return Reason(text, lines or (_lines(scene.on_one_host) if label == _ONE_HOST else ()))
    return None


def cures(rule: Rule, scene: Scene) -> Reason | None:
    """It blames a switch with which the job works: what cures is not the cause."""
    if not scene.troubles.isdisjoint(NO_FAILURE):
        return None
    for label in _blamed(rule):
        if label in scene.cured:
            return Reason(f"the job works with {label}", tuple(_of_trial(label, scene.view))[:_LINES])
    return None


def _blamed(rule: Rule) -> frozenset[str]:
    """The switches that the fixes of a rule unset, each with the value that it blames: ``NCCL_P2P_DISABLE=1``."""
    names = {name for fix in rule.fixes for name in fix.unset}
    values = ((name, value) for name in names for end, off in _SWITCHES.items() if name.endswith(end) for value in off)
    return frozenset(f"{name}={value}" for name, value in values)


def one_gpu(rule: Rule, scene: Scene) -> Reason | None:
    """All runs have one GPU, so that nothing is between GPUs."""
    runs, ranks = scene.view.job.benchmarks, scene.view.job.ranks
    sizes = {run.nranks for run in runs} | {rank.nranks for rank in ranks}
    if rule.area in _INSIDE and runs and sizes - {None} == {1} and len(ranks) <= 1:
        return Reason("the job has one GPU", _lines(runs))
    machines = [context for context in scene.view.job.contexts if context.kind == "machine"]
    others = [name for name in named_gpus(scene.view.job, scene.view) if not _ALONE.search(name)]
    if rule.area in _BETWEEN and machines and not others and {each.value for each in machines} == {"spark"}:
        return Reason("each of these machines has one GPU", _lines(machines))
    return None


def other_signal(rule: Rule, scene: Scene) -> Reason | None:
    """Another signal ended the processes than the one by which the fault ends them."""
    ends = rule.suspect.signals if rule.suspect else ()
    if not ends or not scene.signals or not scene.signals.keys().isdisjoint(ends):
        return None
    ended = " or ".join(sorted(scene.signals))
    return Reason(f"{ended} ended the process, not {' or '.join(ends)}", tuple(scene.signals.values())[:_LINES])


def absent(rule: Rule, scene: Scene) -> Reason | None:
    """Nothing in the input shows the platform of the rule: its cloud, its scheduler, the maker of its GPUs."""
    lacking = next((platform for platform in needed(rule) if not scene.shows(platform)), None)
    return None if lacking is None else Reason(f"nothing in the input shows {lacking}")


def set_otherwise(rule: Rule, scene: Scene) -> Reason | None:
    """The variable whose value is the fault is set in the input, to a value that the rule does not object to."""
    if rule.code not in scene.clear or "job.settings" not in rule.each.values():
        return None
    names = {name for fix in rule.fixes for name in fix.unset}
    found = [setting for setting in scene.view.job.settings if setting.name in names and setting.text]
    if not found:
        return None
    values = " and ".join(dict.fromkeys(f"{setting.name}={setting.text}" for setting in found))
    return Reason(f"the input sets {values}", _lines(found))


def past_rendezvous(rule: Rule, scene: Scene) -> Reason | None:
    """It keeps the ranks from finding each other, and NCCL reports a failure: the ranks have met before NCCL starts.

    init_process_group of PyTorch returns when all ranks are at the store (torch/distributed/distributed_c10d.py); the
    communicators of NCCL begin after it.
    """
    if not any(what in _RENDEZVOUS and weight >= _STRONG for what, _, weight in rule.cells):
        return None
    view = scene.view
    failures = open_failures(view.job, view)
    if any(phase_shown(event, view) == "rendezvous" for event in failures):
        return None
    found = [event for event in failures if event.event in events_of("result-code")]
    if found:
        return Reason("NCCL reports a failure, which comes after the rendezvous", _lines(found))
    lines = lines_of_connecting(view, "NET/")
    return Reason("NCCL connects ranks of several hosts, which comes after the rendezvous", lines) if lines else None


def past_bootstrap(rule: Rule, scene: Scene) -> Reason | None:
    """It keeps ranks from meeting over TCP, and they connect over RDMA: they have met, each at a port of its own."""
    view = scene.view
    if rule.area != _TCP or not scene.troubles.isdisjoint(NO_FAILURE):
        return None
    lines = lines_of_connecting(view, "NET/IB")
    if not lines or any(phase_shown(event, view) in MEETING for event in open_failures(view.job, view)):
        return None
    return Reason("the ranks met over TCP, and NCCL connects them over RDMA", lines)


def past_setup(rule: Rule, scene: Scene) -> Reason | None:
    """The rule explains why a job does not start, and somebody says that steps were completed before the failure.

    Not if the job reports a failure of its setup: a restarted job sets up again, and so does a new group.
    """
    makes = causes(rule)
    if not makes >= _NO_START or makes & _WHILE_RUNNING:
        return None
    view = scene.view
    steps = [one for one in view.job.contexts if one.kind == "state" and one.value == _HAD_RUN]
    if not steps or any(phase_shown(event, view) in SET_UP for event in open_failures(view.job, view)):
        return None
    return Reason("the job completed steps before it failed, and this cause prevents a start", _lines(steps))


def unharmed(rule: Rule, scene: Scene) -> Reason | None:
    """Somebody says that the job ends well in spite of the message, and complains of nothing else: it would not."""
    makes, job = causes(rule), scene.view.job
    if not makes or makes & _SEEN_AT_THE_END:
        return None
    said = _lines(one for one in job.contexts if one.kind == "state" and one.value == _UNHARMED)
    others = (each for each in job.complaints if each.what != _NAMED or not {*each.provenance.values()} <= {*said})
    if not said or any(others):
        return None
    return Reason("the job is said to end well in spite of the message", said)


def switched_off(rule: Rule, scene: Scene) -> Reason | None:
    """Somebody says that what the rule is about is off."""
    return said_off(rule, scene.view)


def incapable(rule: Rule, scene: Scene) -> Reason | None:
    """All GPUs of the job lack what the fault is about: NVLink, NVLink SHARP, MIG, GPUDirect RDMA."""
    view = scene.view
    lacks = [what for what in capabilities_needed(rule) if f"no-{what}" in capabilities(view.job, view)]
    if not lacks:
        return None
    names = named_gpus(view.job, view)
    lines = tuple(dict.fromkeys(span for span in names.values() if span is not None))
    return Reason(f"{' and '.join(names)} cannot do {CAPABILITIES[lacks[0]]}", lines[:_LINES])


def other_release(rule: Rule, scene: Scene) -> Reason | None:
    """The rule applies only to releases of NCCL that the job does not use."""
    wanted, view = program_of(rule).nccl, scene.view
    version = view.version() if wanted.parts else None
    if version is None or wanted.admits(version) is not False:
        return None
    shown = (one.provenance.get("nccl_version") for one in (*view.job.hosts, *view.job.ranks))
    return Reason(f"NCCL {version} is in use, and this applies only to {rule.applies.nccl}", first(shown))


OF_FINDINGS: tuple[Mechanism, ...] = (other_trouble, cures)
OF_SUSPECTS: tuple[Mechanism, ...] = (
    other_trouble, cures, works, fails_without, one_gpu, other_signal, set_otherwise, past_rendezvous, past_bootstrap,
    past_setup, unharmed, absent, incapable, other_release, switched_off,
)  # fmt: skip
"""The mechanisms, those first that are worth most. Findings rest on facts, which show their platform and part."""


def excluded(rule: Rule, scene: Scene, mechanisms: Iterable[Mechanism] = OF_SUSPECTS) -> Reason | None:
    """Why the rule is not a candidate; None if it may be the cause."""
    for mechanism in mechanisms:
        try:
            reason = mechanism(rule, scene)
        except Exception as error:  # noqa: BLE001  (a bug in one mechanism costs only what it would exclude)
            scene.view.faults.append(contained(error, f"{rule.code} could not be excluded by {mechanism.__name__!r}"))
            continue
        if reason is not None:
            return reason
    return None


def excluded_findings(findings: Iterable[Finding], view: View) -> tuple[tuple[Rule, Reason], ...]:
    """The rules of findings that became notes because a fact excludes them as the cause, each with the reason."""
    scene = Scene(view)
    notes = [found.rule for found in findings if found.severity == "info" != found.rule.severity]
    own = {rule.code: rule for rule in notes}.values()
    return tuple((rule, reason) for rule in own if (reason := excluded(rule, scene, OF_FINDINGS)) is not None)


def with_values(labels: Iterable[str]) -> frozenset[str]:
    """The labels; a ``..._DISABLE`` reported without a value counts as set."""
    told = frozenset(labels)
    return told | {f"{label}=1" for label in told if label.endswith("_DISABLE") and f"{label}=0" not in told}


def in_words(label: str) -> str:
    """The label of a reported trial in words: ``no firewall``; variables unchanged."""
    return label if "_" in label else label.replace("-", " ")


def _of_trial(label: str, view: View) -> Iterator[Span]:
    name = label.partition("=")[0]
    for trial in view.job.trials:
        if trial.change in {label, name}:
            yield from trial.provenance.values()


def _lines(facts: Iterable[Fact]) -> tuple[Span, ...]:
    return first(span for fact in facts for span in tuple(fact.provenance.values())[:1])
