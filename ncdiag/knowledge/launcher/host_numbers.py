"""Starts of several hosts whose number the launcher does not get: each of them is number 0.

LlamaFactory reads NODE_RANK since 0.9.1 (src/llamafactory/cli.py; RANK before), ms-swift NODE_RANK (swift/cli/main.py).
torchrun reads --node_rank and PET_NODE_RANK alone (torch/distributed/run.py), and needs it for a static rendezvous.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launch_plan import TORCH
from ncdiag.knowledge.launcher.starts import starts

_BY_VARIABLE = frozenset({"llamafactory-cli", "swift"})
_NUMBERED = lazy_regex(
    r"(?i)node[_-]?rank|rdzv|standalone|\.\.\.|…|\$\{?\w{0,30}(?:args|opts|options|distributed)\w{0,30}\b"
)
"""What numbers the host, or may do so: a rendezvous that counts, words that were left out, a variable with options."""
_NAMES = ("NODE_RANK", "PET_NODE_RANK")


@derived
def unread_host_number(job: Job, view: View) -> Literal["as-rank", "missing", ""]:
    """How several hosts are started without a number that the launcher reads; empty where each may have one."""
    for launch in _candidates(job, view):
        if launch.program in _BY_VARIABLE and "RANK" in launch.prefix_env:
            view.note(launch)
            return "as-rank"
        if launch.program in TORCH and launch.master_addr and not _NUMBERED.search(launch.text or ""):
            view.note(launch)
            return "missing"
    return ""


def _candidates(job: Job, view: View) -> Iterator[Launch]:
    """The starts of several hosts without the variable, if no host and no other line has it."""
    if any(host.settings.get(name) is not None for host in job.hosts for name in _NAMES):
        return
    lines = starts(job, view)
    if not any(name in launch.env for launch in lines for name in _NAMES):
        yield from lines
