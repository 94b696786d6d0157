"""Settings that reduce speed, and whether the job was measured to be slow, or has not run yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import best_large_busbw, test_name
from ncdiag.facts.vocabulary.job import nothing_ran
from ncdiag.facts.vocabulary.link_tests import ENOUGH_OF_TESTED, fraction_of_tested, tested_text
from ncdiag.facts.vocabulary.trainings import slow_trainings, slowness_of_training
from ncdiag.nccl.vocabulary.limits import fraction_of_limit, fraction_text, in_node_floor, is_below_links

_PINNED = frozenset({
    "NCCL_ALGO", "NCCL_PROTO", "NCCL_NTHREADS", "NCCL_BUFFSIZE", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_CTAS", "NCCL_MAX_CTAS",
})  # fmt: skip
"""Variables that override what NCCL computes for each machine, release and size."""
_TRACED = frozenset({"COLL", "ALL", "CALL", "P2P", "PROXY"})
_NO_PROBLEM = frozenset({"fact", "harmless"})


@derived
def is_planned(job: Job, view: View) -> bool:
    """Were only settings and launch lines shown: did nothing run yet, and does nobody mention a problem?

    Harmless kernel messages, such as those at boot, do not count.
    """
    return nothing_ran(job, view) and all(event.kind in _NO_PROBLEM for event in job.events)


@derived
def slowness(job: Job, view: View) -> str | None:
    """A benchmark or training that is slower than it should be; empty when all are well, None without any."""
    return next(_all(_of_benchmarks(job, view), slow_trainings(job, view)), _none_or_well(job))


def _all(*parts: Iterator[str]) -> Iterator[str]:
    for part in parts:
        yield from part


def _none_or_well(job: Job) -> str | None:
    return "" if job.benchmarks or job.throughputs else None


def _of_benchmarks(job: Job, view: View) -> Iterator[str]:
    for benchmark in job.benchmarks:
        name = test_name(benchmark, view)
        below, tested = is_below_links(benchmark, view), fraction_of_tested(benchmark, view)
        if below and fraction_of_limit(benchmark, view) is not None:
            view.note(benchmark)
            yield f"{name} reaches {fraction_text(benchmark, view)}"
        elif tested is not None and tested < ENOUGH_OF_TESTED:
            view.note(benchmark)
            yield f"{name} reaches {tested_text(benchmark, view)}"
        elif below:
            view.note(benchmark)
            yield f"{name} reaches {best_large_busbw(benchmark, view):g} of {in_node_floor(benchmark, view):g} GB/s"


@derived
def debugging_cost(setting: Setting, view: View) -> str:
    """The cost of a variable for debugging or tuning; empty for all others."""
    word = (setting.text or "").strip().upper()
    if setting.is_set and word:
        for applies, cost in _COSTS.get(setting.name, ()):
            if applies(word, view):
                return cost
        if setting.name in _PINNED and not any(host.cloud for host in view.job.hosts):
            return "overrides what NCCL computes for this machine, release and size"
    return ""


@derived
def slowness_beside(setting: Setting, view: View) -> str | None:
    """The slowness that a variable with such a cost may explain; empty for none, None where nothing was measured."""
    if not debugging_cost(setting, view):
        return ""
    of_training = setting.name.startswith("TORCH_")
    found = slowness_of_training(view.job, view) if of_training else slowness(view.job, view)
    if found:
        view.note(setting)
    return found


def _is_on(word: str, view: View) -> bool:
    return word != "0"


def _is_detail(word: str, view: View) -> bool:
    return word == "DETAIL"


def _prints_calls(word: str, view: View) -> bool:
    if word not in {"INFO", "TRACE"}:
        return False
    subsystems = view.setting(view.job, "NCCL_DEBUG_SUBSYS")
    named = set((subsystems.text or "").upper().split(",")) if subsystems is not None and subsystems.is_set else set()
    return bool(named & _TRACED)


_COSTS: dict[str, tuple[tuple[Callable[[str, View], bool], str], ...]] = {
    "CUDA_LAUNCH_BLOCKING": ((_is_on, "makes the program wait for every kernel, so that nothing overlaps"),),
    "TORCH_DISTRIBUTED_DEBUG": ((_is_detail, "checks every collective with others over Gloo before it runs"),),
    "NCCL_CHECK_POINTERS": ((_is_on, "looks up the memory of every call"),),
    "NCCL_DEBUG": ((_prints_calls, "prints lines for every collective (NCCL_DEBUG_SUBSYS)"),),
}
