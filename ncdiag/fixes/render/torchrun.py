"""For torchrun, whose workers inherit the environment of the shell that started it on their host."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment, quote

LAUNCHER = "torchrun"
PROGRAMS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic",
            "accelerate launch")  # fmt: skip
TAG = r"\[default\d{1,4}\]:"  # --tee, --log-dir

_OPTIONS = {"MASTER_ADDR": "--master_addr", "MASTER_PORT": "--master_port"}


def line(change: Change) -> str | None:
    """``unset B``, ``export A=1`` and ``torchrun ...``, each on one line.

    torchrun sets the address and port of the rendezvous itself, from its options (torch/distributed/run.py).
    """
    lines = [f"unset {' '.join(change.unset)}"] if change.unset else []
    lines += [f"export {assignment(*item)}" for item in change.env.items() if item[0] not in _OPTIONS]
    given = [f"{_OPTIONS[name]}={quote(value)}" for name, value in change.env.items() if name in _OPTIONS]
    if change.endpoint_port and "MASTER_ADDR" in change.env:
        port = change.env.get("MASTER_PORT", change.endpoint_port)
        given = [f"--rdzv_endpoint={quote(change.env['MASTER_ADDR'])}:{quote(port)}"]
    return "\n".join([*lines, " ".join(["torchrun", *given, "..."])]) if lines or given else None
