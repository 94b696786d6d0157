"""Run nccl-tests on the hosts of a probe: on all together, then on pairs, with the available launcher.

The output of the run on all hosts is kept unchanged. Runs on pairs have the same rank numbers on other hosts, so only
their speed is reported, as parsed by the parser of nccl-tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ncdiag.apps.cluster.launchers import AS_ROOT, mpirun
from ncdiag.apps.cluster.model import Wish
from ncdiag.facts.fold import fold_hosts
from ncdiag.text import TextSource, read_source

if TYPE_CHECKING:
    from ncdiag.agent.probe.bandwidth import Held

PROGRAM = "all_reduce_perf"
_SIZES = ("-b", "64M", "-e", "1G", "-f", "4", "-n", "20")
"""Sizes that show the bandwidth; 20 iterations are the default of nccl-tests."""
_LONGEST = 60.0
"""Maximum seconds of one run; a healthy one takes some seconds, mainly for the start."""
_ROUNDS, _AT_ONCE = 2, 8
"""The number of pairs per host, and of pairs that run in parallel."""
_ALONE = 2
_ODD = "most hosts have it at another path, or have another number of GPUs"


class Able(msgspec.Struct, frozen=True):
    """The path of the program on a host, and the number of GPUs."""

    path: str
    gpus: int


def collectives(able: Mapping[str, Able], means: str, wish: Wish, seconds: float) -> Iterator[str]:
    """Lines of the runs within ``seconds``, and of each host without a run; ``means`` is the launcher."""
    launcher = "srun" if means == "srun" else "mpirun"
    why = ""
    if means == "kubectl":
        why = "kubectl cannot start a job across several pods"
    elif shutil.which(launcher) is None:
        why = f"{launcher} is not installed here"
    usual = Counter(able.values()).most_common(1)[0][0] if able else None
    hosts = [host for host, one in able.items() if one == usual]
    if not why and len(hosts) < _ALONE:
        why = "no other host has it at the same path and the same number of GPUs"
    left = [host for host in able if why or host not in hosts]
    for host in left:
        yield f"probe {host}: nccl-tests not tried: {why or _ODD}"
    if usual is not None and not why:
        yield from _Runs(usual, launcher, wish, time.monotonic() + seconds).lines(hosts)


class _Ran(msgspec.Struct, frozen=True):
    """The output of a run, and the ``error`` with which it failed; ``cut``: it was ended because the time was up."""

    said: str
    error: str = ""
    cut: bool = False


class _Runs:
    """Runs that end before a deadline."""

    def __init__(self, able: Able, launcher: str, wish: Wish, ends: float) -> None:
        self._able, self._launcher, self._wish, self._ends = able, launcher, wish, ends

    def lines(self, hosts: Sequence[str]) -> Iterator[str]:
        """The run on all hosts, after its command line, and a line for each pair, or for what had no time."""
        argv = self._line(hosts)
        whole = self._run([argv])[0]
        several = len(hosts) > _ALONE
        tried: set[str] = set()
        for one, other, ran in self._pairs(hosts) if several else ():
            if not ran.cut:
                tried |= {one, other}
                rate = None if ran.error else _bandwidth(ran.said)
                told = f"{rate:.2f} GB/s" if rate else f"failed: {ran.error or 'it printed no table'}"
                yield f"probe {one} -> {other} with {PROGRAM}: {told}"
        for host in hosts:
            if whole.cut:
                yield f"probe {host}: nccl-tests not tried: there was no time for the run over all hosts"
            elif several and host not in tried:
                yield f"probe {host}: nccl-tests not tried: there was no time for a pair with it"
        yield from (f"$ {shlex.join(argv)}", *whole.said.splitlines())

    def _pairs(self, hosts: Sequence[str]) -> Iterator[tuple[str, str, _Ran]]:
        from ncdiag.agent.probe.main import partner, turns

        count = len(hosts)
        for turn in turns(count, _ROUNDS):
            met = [(one, hosts[place]) for own, one in enumerate(hosts) if own < (place := partner(own, turn, count))]
            for some in [met[place : place + _AT_ONCE] for place in range(0, len(met), _AT_ONCE)]:
                if time.monotonic() >= self._ends:
                    return
                for (one, other), ran in zip(some, self._run([self._line(pair) for pair in some]), strict=True):
                    yield one, other, ran

    def _line(self, hosts: Sequence[str]) -> list[str]:
        test = [self._able.path, *_SIZES, "-g", str(self._able.gpus)]
        if self._launcher == "mpirun":
            options = ["--mca", "plm_rsh_args", self._wish.options] if self._wish.options else []
            return [*mpirun(hosts), *options, *test]
        own = [] if "SLURM_JOB_ID" in os.environ else ["--immediate=15", "--time=2"]
        return [
            "srun", "--quiet", "--nodelist", fold_hosts(hosts), "--nodes", str(len(hosts)), "--ntasks", str(len(hosts)),
            "--ntasks-per-node=1", "--overlap", *own, *shlex.split(self._wish.options), *test,
        ]  # fmt: skip

    def _run(self, lines: Sequence[list[str]]) -> list[_Ran]:
        """The results of the runs, all executed in parallel."""
        from ncdiag.agent.probe.bandwidth import Held, last_words

        found: list[_Ran] = []
        held: list[Held] = []
        latest = time.monotonic() + _LONGEST
        try:
            held += [Held(line, AS_ROOT if os.geteuid() == 0 else {}, gently=True) for line in lines]
            for one in held:
                said, status = one.said(min(self._ends, latest))
                why = "" if status == 0 else last_words(said) or f"it ended with {status}"
                late = f"it did not end within {_LONGEST:g} s"
                found.append(_Ran(said, late if status is None else why, cut=status is None and self._ends < latest))
        finally:
            for one in held:
                one.close()
        return found


def _bandwidth(said: str) -> float | None:
    """GB/s of bus bandwidth for the largest size."""
    reading = read_source(TextSource.of_bytes(PROGRAM, said.encode()))
    rows = [row for one in reading.observations if one.entity == "Benchmark" for row in one.fields.get("rows", ())]
    rates = [row.get("busbw") for row in rows]
    return next((rate for rate in reversed(rates) if rate), None)
