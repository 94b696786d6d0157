"""Jobs on several hosts in which the launcher does not get the number of its host, so that each one is host 0.

LlamaFactory reads NODE_RANK since 0.9.1 (src/llamafactory/cli.py; RANK before), ms-swift NODE_RANK (swift/cli/main.py).
torchrun reads only --node_rank and PET_NODE_RANK (torch/distributed/run.py), and needs one for a static rendezvous.
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
"""Text that gives or may give the number: a rendezvous that assigns it, an ellipsis, a variable that holds options."""
_NAMES = ("NODE_RANK", "PET_NODE_RANK")


@derived
def unread_host_number(job: Job, view: View) -> Literal["as-rank", "missing", ""]:
    """Why the launcher does not get its host's number: it is given as RANK, or missing; empty if it may get it."""
    for launch in _candidates(job, view):
        if launch.program in _BY_VARIABLE and "RANK" in launch.prefix_env:
            view.note(launch)
            return "as-rank"
        if launch.program in TORCH and launch.master_addr and not _NUMBERED.search(launch.text or ""):
            view.note(launch)
            return "missing"
    return ""


def _candidates(job: Job, view: View) -> Iterator[Launch]:
    """The launch lines of a job on several hosts, if none of them and no host sets NODE_RANK or PET_NODE_RANK."""
    if any(host.settings.get(name) is not None for host in job.hosts for name in _NAMES):
        return
    lines = starts(job, view)
    if not any(name in launch.env for launch in lines for name in _NAMES):
        yield from lines
