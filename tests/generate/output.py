"""Writes what a training job prints: mostly the program's own lines, as loops, bars, loggers and libraries print them.

Kinds: ``output`` (NCCL's lines of the start among the lines of frameworks, which differ in their numbers), ``hashes``
(lines that all differ in letters, too) and ``prose``. As a program, in ``tests``:
``python -m generate.output KIND MEGABYTES FILE``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from generate import healthy

RANKS = 16
_WORDS = """
the loader reads shards while workers wait for a batch and gradients of every layer travel in buckets over rings
or trees until a checkpoint is written by one rank of each group which then goes on with its next epoch as before
""".split()  # noqa: SIM905  (words read best in a row)


def _clock(step: int) -> str:
    return f"{step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}"


def _iteration(chance: random.Random, step: int) -> str:
    return (
        f"{chance.randrange(RANKS)}: [2026-05-04 {_clock(step)}] iteration {step:8d}/ 900000 | consumed samples: "
        f"{step * 256:12d} | elapsed time per iteration (ms): {chance.uniform(800, 900):.1f} | learning rate: "
        f"{chance.random() * 1e-4:.6E} | global batch size: 256 | lm loss: {chance.uniform(1.5, 2.5):.6E} | grad norm: "
        f"{chance.random():.3f} |"
    )


def _bar(_: random.Random, step: int) -> str:
    share = step % 100
    return f"Epoch {step // 500}: {share:3d}%|{'#' * (share // 10):10}| {share}/100 [00:{share:02d}<01:00, 1.5it/s]"


def _warning(chance: random.Random, step: int) -> str:
    return (
        f"[rank{chance.randrange(RANKS)}]:W0504 {_clock(step)}.{chance.randrange(10**6):06d} {chance.randrange(10**5)} "
        f"torch/_inductor/utils.py:{chance.randrange(2000)}] [{step % 7}/0] Not enough SMs to use max_autotune_gemm"
    )


def _logger(chance: random.Random, step: int) -> str:
    return (
        f"[NeMo I 2026-05-04 {_clock(step)} nemo_model:{chance.randrange(900)}] Rank {chance.randrange(RANKS)} holds "
        f"{chance.randrange(10**9)} parameters in {chance.randrange(40)} layers"
    )


def _record(chance: random.Random, step: int) -> str:
    return (
        f'{{"time": "2026-05-04 {_clock(step)}", "level": "info", "msg": "shard saved", "path": '
        f'"/ckpt/{step}/{chance.randrange(999):05d}.distcp", "seconds": {chance.random() * 9:.2f}}}'
    )


def _library(chance: random.Random, _: int) -> str:
    return (
        f"/opt/venv/lib/python3.12/site-packages/torch/utils/checkpoint.py:{chance.randrange(900)}: UserWarning: "
        f"None of the {chance.randrange(9)} inputs have requires_grad=True"
    )


def _output(chance: random.Random, step: int) -> str:
    kinds = (_iteration, _bar, _warning, _logger, _record, _library)
    return chance.choices(kinds, (45, 15, 15, 10, 8, 7))[0](chance, step)


def _hashes(chance: random.Random, _: int) -> str:
    return (
        f"cached {chance.getrandbits(160):040x} as /cache/{chance.getrandbits(64):016x}/{chance.getrandbits(64):x}.pt"
    )


def _prose(chance: random.Random, _: int) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randrange(8, 18))).capitalize() + "."


KINDS: dict[str, Callable[[random.Random, int], str]] = {"output": _output, "hashes": _hashes, "prose": _prose}


def lines(kind: str, seed: int = 1) -> Iterator[str]:
    """Lines without an end."""
    chance, step = random.Random(seed), 0
    if kind == "output":
        yield from healthy.healthy_log(healthy.Job("2.27.7", "ib", nodes=2)).splitlines()
    while True:
        step += 1
        yield KINDS[kind](chance, step)


def write(path: Path, kind: str, megabytes: float) -> None:
    """Write about so many megabytes of one kind."""
    size = 0
    with path.open("w", encoding="utf-8") as out:
        for line in lines(kind):
            size += out.write(line + "\n")
            if size >= megabytes * 1e6:
                return


if __name__ == "__main__":
    write(Path(sys.argv[3]), sys.argv[1], float(sys.argv[2]))
