"""For torchrun, whose workers inherit the environment of the shell that started it on their host."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment

LAUNCHER = "torchrun"
PROGRAMS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic",
            "accelerate launch")  # fmt: skip
TAG = r"\[default\d{1,4}\]:"  # --tee, --log-dir


def line(change: Change) -> str | None:
    """``unset B``, ``export A=1`` and ``torchrun ...``, each on one line."""
    lines = [f"unset {' '.join(change.unset)}"] if change.unset else []
    lines += [f"export {assignment(*item)}" for item in change.env.items()]
    return "\n".join([*lines, "torchrun ..."]) if lines else None
