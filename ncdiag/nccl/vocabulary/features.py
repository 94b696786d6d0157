"""Which features of NCCL a job uses: by its messages, stacks and variables, and by what people say of it.

A feature that nothing shows counts as not in use: most jobs use few of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Fact, Job, StackDump
from ncdiag.facts.view import View
from ncdiag.nccl.defects.entries import Use
from ncdiag.nccl.defects.table import tables
from ncdiag.nccl.vocabulary.algorithms import uses_nvls

_MANY = 20
"""The number of communicators from which on a job has many."""
_ALL_TO_ALL = lazy_regex(r"all_?to_?all", re.IGNORECASE)
_AINIC, _BOND = lazy_regex(r"^ionic_\d|^roce_ai\d"), lazy_regex(r"bond_?\d")
"""The names of devices of AMD's AI network cards, and of bonds."""
_SEND_RECEIVE = lazy_regex(r"send|recv", re.IGNORECASE)


@derived
def features(job: Job, view: View) -> tuple[str, ...]:
    """The features of NCCL that the job uses, by the names of ``ncdiag/nccl/defects/words.toml``: ``cuda-graphs``."""
    return tuple(name for name, use in tables().uses.items() if _shown(name, use, job, view))


def _shown(name: str, use: Use, job: Job, view: View) -> bool:
    said = next((c for c in job.contexts if c.kind == "feature" and c.value == name), None)
    event = next((e for e in job.events if e.event in use.events), None) if use.events else None
    found = said or event or _on_stack(use.frames, job, view) or _set(use.variables, job, view)
    if found is None and name in _FACTS:
        found = _FACTS[name](job, view)
    if found is not None:
        view.note(found)
    return found is not None


def _on_stack(pattern: str, job: Job, view: View) -> Fact | None:
    if not pattern:
        return None
    wanted = re.compile(pattern)
    told = next((c for c in job.contexts if c.kind == "function" and wanted.search(c.value)), None)
    return told or next((dump for name, dump in _functions(job, view).items() if wanted.search(name)), None)


def _functions(job: Job, view: View) -> dict[str, StackDump]:
    """Each function on a stack of the job, with the first stack that it is on."""

    def collected() -> dict[str, StackDump]:
        found: dict[str, StackDump] = {}
        for dump in job.stack_dumps:
            for thread in dump.threads:
                for frame in thread.frames:
                    found.setdefault(frame.function, dump)
        return found

    return view.remembered(("functions on stacks",), collected)


def _set(variables: dict[str, str], job: Job, view: View) -> Fact | None:
    for name, wanted in variables.items():
        for place in (job, *job.hosts):
            setting = view.setting(place, name)
            if setting is not None and setting.is_set and matches(setting.text or "", wanted):
                return setting
    return None


def matches(text: str, wanted: str) -> bool:
    """Is the value of a variable one that is wanted: ``set``, a comparison (``>=2``), ``1|2``, or ``*LL128*``?"""
    return any(_one(text.strip(), part.strip()) for part in wanted.split("|"))


def _one(text: str, wanted: str) -> bool:
    if wanted == "set":
        return bool(text)
    if wanted.startswith("!"):
        return bool(text) and text != wanted[1:]
    if wanted[:1] in "<>=":
        return bool(compared(_number(text), wanted))
    if "*" in wanted:
        pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
        return re.fullmatch(pattern, text, re.IGNORECASE) is not None
    return text.lower() == wanted.lower()


_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _number(text: str) -> int | None:
    found = re.fullmatch(r"(\d{1,15})([kmg]?)", text.lower())
    return int(found[1]) * _UNITS.get(found[2], 1) if found else None


def compared(number: int | None, wanted: str) -> bool | None:
    """Does the number fit a comparison such as ``>=2``? None for an unknown number."""
    found = re.fullmatch(r"(<=|>=|==|<|>)(\d+)", wanted)
    if number is None or found is None:
        return None
    bound = int(found[2])
    return {
        "<": number < bound, ">": number > bound, "<=": number <= bound, ">=": number >= bound, "==": number == bound,
    }[found[1]]  # fmt: skip


def _split(job: Job, _view: View) -> Fact | None:
    return next((c for c in job.communicators if c.parent is not None), None)


def _ras(job: Job, _view: View) -> Fact | None:
    return next(iter(job.ras_reports), None)


def _all_to_all(job: Job, _view: View) -> Fact | None:
    runs = (run for run in job.benchmarks if run.program and _ALL_TO_ALL.search(run.program))
    stopped = (stop for stop in job.timeouts if stop.operation and _ALL_TO_ALL.search(stop.operation))
    return next(runs, None) or next(stopped, None)


def _send_receive(job: Job, _view: View) -> Fact | None:
    calls = (call for call in job.collectives if _SEND_RECEIVE.search(call.function))
    runs = (run for run in job.benchmarks if run.program and _SEND_RECEIVE.search(run.program))
    stopped = (stop for stop in job.timeouts if stop.operation and _SEND_RECEIVE.search(stop.operation))
    return next(calls, None) or next(runs, None) or next(stopped, None)


def _gpus_per_process(job: Job, _view: View) -> Fact | None:
    return next((run for run in job.benchmarks if (run.gpus_per_process or 1) > 1), None)


def _fusion(job: Job, _view: View) -> Fact | None:
    return next((r for r in job.ranks if any("+" in device.name for device in r.net_devices or ())), None)


def _cumem(job: Job, _view: View) -> Fact | None:
    return next((r for r in job.ranks if any("CUMEM" in name for name in r.transports or ())), None)


def _many(job: Job, _view: View) -> Fact | None:
    """Many communicators in the log, or several of which one was left open while the others were completed."""
    known = job.communicators
    left = next((c for c in known if c.ranks_started and not set(c.ranks_started) <= set(c.ranks_ready)), None)
    if left is not None and any(c.ranks_ready and set(c.ranks_started) <= set(c.ranks_ready) for c in known):
        return left
    return known[0] if len(known) >= _MANY else None


def _nvls(job: Job, view: View) -> Fact | None:
    return next((e for e in job.events if e.event == "nvls-state"), None) if uses_nvls(job, view) else None


def _fp8(job: Job, _view: View) -> Fact | None:
    return next((e for e in job.events if "float8" in str(e.fields.get("datatype") or "").lower()), None)


def _cards(word: str, pattern: re.Pattern[str], job: Job) -> Fact | None:
    """What shows that cards are of a kind: the word of people for them, or the name of a device."""
    told = next((c for c in job.contexts if c.kind == "network" and c.value == word), None)
    ranks = (rank for rank in job.ranks if any(pattern.search(device.name) for device in rank.net_devices or ()))
    hcas = (hca for host in job.hosts for hca in host.hcas if pattern.search(hca.name))
    return told or next(ranks, None) or next(hcas, None)


def _ainic(job: Job, _view: View) -> Fact | None:
    return _cards("ainic", _AINIC, job)


def _bond(job: Job, _view: View) -> Fact | None:
    return _cards("bond", _BOND, job)


_FACTS: dict[str, Callable[[Job, View], Fact | None]] = {
    "comm-split": _split, "ras-client": _ras, "alltoall": _all_to_all, "send-recv": _send_receive,
    "gpus-per-process": _gpus_per_process, "nic-fusion": _fusion, "cumem": _cumem, "many-communicators": _many,
    "nvls": _nvls, "fp8": _fp8, "ainic": _ainic, "bond": _bond,
}  # fmt: skip
"""Facts that show a feature, beside its messages, stacks and variables."""
