"""The faults of the programs of a paste."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import span
from ncdiag.facts.observe import Observation
from ncdiag.parsers.script import starts, visible
from ncdiag.parsers.script.blocks import Script, begun, scripts
from ncdiag.parsers.script.collectives import Finder
from ncdiag.parsers.script.devices import Devices
from ncdiag.parsers.script.names import Names, written
from ncdiag.parsers.script.steps import skipped

_SHARDED = lazy_regex(
    r"\bfsdp\d?\b|FullyShardedDataParallel|fully_shard|zero[-_ ]?3|stage[\"']?\s?[:=]?\s?3|deepspeed",
    re.IGNORECASE,
)
_GATHERS = lazy_regex(
    r"\bfsdp\d?\b|FullyShardedDataParallel|fully_shard|zero[-_ ]?3|stage[\"']?\s?[:=]?\s?3", re.IGNORECASE
)
"""Each forward pass gathers the parameters: torch/distributed/fsdp, deepspeed/runtime/zero/partition_parameters.py."""
_KEEPS_WHOLE = lazy_regex(r"\bDDP\b|DistributedDataParallel")
_OUT_OF_SHARDS = lazy_regex(r"summon_full_params|zero\.GatheredParameters")
_ONE_EACH = lazy_regex(r"n_?proc[-_]per[-_]node[ =]+1\b|CUDA_VISIBLE_DEVICES=\S|--gpus-per-task|--gpu-bind")
_SEVERAL = lazy_regex(
    r"n_?proc[-_]per[-_]node[ =]+(?:[2-9]|\d\d|gpu|auto)|MASTER_ADDR\W{1,12}(?:localhost|127\.)|tcp://(?:localhost|127\.)"
)
_STARTED = lazy_regex(r"--n_?proc[-_]per[-_]node[ =]{1,4}(\d{1,4})\b")
_TASKS = lazy_regex(
    r"\b(?:srun|mpirun|mpiexec)(?: [^\n]{0,200}?)? (?:-n|-np|--np|--ntasks)[ =]{0,4}(\d{1,5})\b(?! ?torchrun)"
    r"|^#SBATCH (?:-n|--ntasks)[ =]{0,4}(\d{1,5})\b",
    re.MULTILINE,
)
_AGENTS = lazy_regex(r"torchrun|torch\.distributed\.(?:run|launch)|accelerate launch|deepspeed ")
_STARTER = lazy_regex(
    r"\b(?:torchrun|mpirun|mpiexec|srun|horovodrun|accelerate|deepspeed|xargs|parallel|pdsh|ray)\b"
    r"|distributed[. ](?:run|launch)"
    r"|\b(?:argparse|argv|environ|getenv|click|fire|hydra|absl|typer)\b|&\s*$|\bspawn\(|\bProcess\(|\bfork\(|\bPool\(",
    re.MULTILINE,
)
"""What starts more than one process, or tells a process which one it is."""
_HOSTS = lazy_regex(r"--?n?nodes?[ =]+(?:[2-9]|\d\d)|node[-_]rank[ =]+[1-9]")
_TEXT = 400


def read(source: str, lines: Sequence[tuple[int, str]]) -> list[Observation]:
    """What is wrong with the programs in a paste, by its numbered lines."""
    text, held = "\n".join(line for _, line in lines), dict(lines)
    try:
        faults = _Faults(text, scripts(lines), begun(lines))
        return [_observed(source, *fault, held, one_host=faults.one_host) for fault in faults.all()]
    except RecursionError:  # an expression within expressions, which nobody writes
        return []


Fault = tuple[str, ast.expr, Names]
"""Its kind, the call, and the names of the script that it stands in."""


def _observed(  # noqa: PLR0913  (what a fault is made of)
    source: str, kind: str, call: ast.expr, names: Names, lines: dict[int, str], *, one_host: bool
) -> Observation:
    line = lines.get(call.lineno, "")
    called = line.strip() if isinstance(call, ast.Constant) else written(getattr(call, "func", call))
    fields = {
        "kind": kind,
        "call": called[:_TEXT],
        "one_host": one_host,
        "text": line.strip()[:_TEXT],
    }
    return Observation(entity="ScriptFault", span=span(source, call.lineno, line), fields=fields)


class _Faults:
    """The faults of the programs of one paste; what the paste says beside them tells how they were started."""

    def __init__(self, text: str, found: Sequence[Script], stopped: Sequence[Script]) -> None:
        self._text = text
        self._stopped = [Names(script) for script in stopped]
        self._scripts = [(script, Names(script)) for script in found]
        self._names = [names for _, names in self._scripts]
        self._devices = Devices(self._names)
        self._started = [each for names in self._names for each in starts.spawned(names)]
        self.one_host = bool(self._started) or _SEVERAL.search(text) is not None

    def all(self) -> Iterator[Fault]:
        """Each kind of fault once, at its first place."""
        seen = set()
        for fault in (*self._of_calls(), *self._of_devices(), *self._of_numbers(), *self._of_starts()):
            if fault[0] not in seen:
                seen.add(fault[0])
                yield fault

    def _of_calls(self) -> Iterator[Fault]:
        sharded = _SHARDED.search(self._text) is not None and _OUT_OF_SHARDS.search(self._text) is None
        gathers = sharded and bool(_GATHERS.search(self._text)) and not _KEEPS_WHOLE.search(self._text)
        for script, names in self._scripts:
            finder = Finder(names, sharded=sharded)
            for lonely in finder.lonely(script.body):
                yield (
                    "new-group" if lonely.what.startswith(("new_group ", "new_sub")) else "some-ranks",
                    lonely.call,
                    names,
                )
            for call in finder.lonely_passes(script.body):
                yield "some-ranks" if gathers else "some-ranks-pass", call, names
            for call in skipped(script.body, names) if finder.wraps else ():
                yield "skipped-step", call, names

    def _of_devices(self) -> Iterator[Fault]:
        if not self._devices.over_nccl or _ONE_EACH.search(self._text):
            return
        shared, early = self._devices.shared(), self._devices.early()
        if shared is not None:
            yield "one-gpu", shared, self._owner(shared)
        elif early is not None:
            yield "gpu0-context", early, self._owner(early)

    def _owner(self, call: ast.Call) -> Names:
        return next(names for names in self._names if any(call is each for each in names.calls))

    def _of_numbers(self) -> Iterator[Fault]:
        said = [(each, names) for names in (*self._names, *self._stopped) for each in starts.numbers(names)]
        ranks = {each.rank for each, _ in said} - {None}
        started = {count for _, count in self._started if count}
        several = _HOSTS.search(self._text) is not None
        if not (started or several):
            started = {int(found[1]) for found in _STARTED.finditer(self._text)}
        if not started and _AGENTS.search(self._text) is None:
            started = {int(found[1] or found[2]) for found in _TASKS.finditer(self._text)}
        for each, names in said:
            if each.rank is not None and len(ranks) == 1 and each.size not in {0, 1}:
                yield "fixed-rank", each.node, names
            if each.rank is not None and each.size and each.rank >= each.size:
                yield "rank-outside", each.node, names
            if each.size == 0 or (each.size is not None and len(started) == 1 and each.size not in started):
                yield "world-size", each.node, names
            if not (started or several or _STARTER.search(self._text)) and starts.is_run_once(each):
                yield "world-size", each.node, names
            if several and isinstance(each.node, ast.Call) and starts.local_as_rank(each.node, names):
                yield "local-rank-as-rank", each.node, names

    def _of_starts(self) -> Iterator[Fault]:
        for script, names in self._scripts:
            if call := starts.unguarded(script, names):
                yield "unguarded-spawn", call, names
            if (call := starts.own_place(names)) and not self._started:
                yield "own-place", call, names
            if call := starts.forked(script, names):
                yield "cuda-before-fork", call, names
            if late := visible.set_late(script, names):
                yield "visible-late", late, names
