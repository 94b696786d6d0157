"""Mistakes in a pasted Python program, as far as its text alone shows them."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact


class ScriptFault(Fact, frozen=True, kw_only=True):
    """Something in a pasted program or script that cannot work with several ranks, whether the program ran or not.

    ``kind`` is one of: ``some-ranks`` (a condition on the rank excludes ranks from a collective, or from a forward pass
    that gathers sharded parameters), ``some-ranks-pass`` (the same for a forward pass of another wrapped model, or an
    evaluation that contains one), ``new-group`` (not all ranks
    create the group), ``skipped-step`` (a rank skips a step depending on its data), ``one-gpu`` (all processes use one
    GPU), ``gpu0-context`` (all processes have a context on GPU 0), ``local-rank-as-rank`` (the local rank is used as
    the rank), ``fixed-rank`` (all processes use the same rank), ``world-size`` (another number of ranks than is
    started), ``rank-outside`` (a rank that is not below the number of ranks), ``own-place`` (each process chooses its
    own rendezvous address: a free port, its own host), ``unguarded-spawn`` (workers are spawned while the program is
    imported), ``cuda-before-fork`` (CUDA is used in a process that forks afterwards), ``rank-expanded-early`` (a
    shell script fills in the number of a task, its variable ``call``, before the tasks start), ``visible-late`` (the
    list of visible GPUs is set after CUDA has read it).

    ``call`` is the function that is called, without its arguments. ``one_host``: do several of its processes run on one
    host?
    """

    kind: Literal[
        "some-ranks", "some-ranks-pass", "new-group", "skipped-step", "one-gpu", "gpu0-context", "local-rank-as-rank",
        "fixed-rank", "world-size", "rank-outside", "own-place", "unguarded-spawn", "cuda-before-fork",
        "rank-expanded-early", "visible-late",
    ]  # fmt: skip
    call: str
    one_host: bool | None = None
    told: bool = True
    text: str = ""
