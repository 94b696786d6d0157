"""What is wrong with a program that somebody pasted, as far as its text alone shows it."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact


class ScriptFault(Fact, frozen=True, kw_only=True):
    """Something in a pasted Python program that cannot go well with several ranks. Nothing shows that it ran so.

    ``kind``: a collective that a condition on the rank keeps from other ranks (``some-ranks``), a pass of a wrapped
    model or an evaluation that it does (``some-ranks-pass``), a group that not all ranks make (``new-group``), a step
    that a rank leaves out by its data (``skipped-step``); all processes on one GPU (``one-gpu``) or with a context on
    GPU 0 (``gpu0-context``); the number of a process on its host as its rank (``local-rank-as-rank``), one rank for
    all (``fixed-rank``), another number of ranks than are started (``world-size``); workers that are spawned while the
    program is imported (``unguarded-spawn``), CUDA in a process that is forked then (``cuda-before-fork``).

    ``call`` is what is called, without its arguments; ``one_host``: several of its processes run on one host.
    """

    kind: Literal[
        "some-ranks", "some-ranks-pass", "new-group", "skipped-step", "one-gpu", "gpu0-context", "local-rank-as-rank",
        "fixed-rank", "world-size", "unguarded-spawn", "cuda-before-fork",
    ]  # fmt: skip
    call: str
    one_host: bool | None = None
    told: bool = True
    text: str = ""
