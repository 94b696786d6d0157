"""Daemons of Slurm that do not answer or trust each other, and jobs that get no GPU from it."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import SLURM_PROGRAMS
from ncdiag.messages.vocabulary.cuda_errors import UNAVAILABLE, is_cuda_unavailable

_OTHER_TIME = r"(?i)\b(?:expired|rewound)\b"
_CONTROLLER = "controller"


@derived
def is_credential_of_another_time(event: Event, view: View) -> bool:
    """Does munge say that a credential is too old, or from the future? Then the clocks differ, not the keys."""
    return re.search(_OTHER_TIME, str(event.fields.get("credential_fault", ""))) is not None


@derived
def unanswered_text(event: Event, view: View) -> str:
    """Which daemon of Slurm does not answer: ``slurmd of n2 does not answer``."""
    node = event.fields.get("on_host")
    if node:
        return f"slurmd of {node} does not answer"
    if _CONTROLLER in event.text:
        return "slurmctld does not answer"
    return "A daemon of Slurm does not answer"


_INSPECTS = frozenset({
    "ls", "cat", "hostname", "env", "printenv", "id", "df", "mount", "ip", "uname", "lspci", "lscpu", "ibstat",
    "ibv_devinfo", "ibv_devices", "rocminfo",
})  # fmt: skip
"""Programs that people start with srun to inspect a node; such a step needs no GPU."""
_ASKS = lazy_regex(r"\s(?:--(?:gres|gpus|tres|exclusive)|-G)|gpu:|--gpu", re.IGNORECASE)


@derived
def slurm_without_gpus(job: Job, view: View) -> str | None:
    """The Slurm line that asks for no GPU, if no other line of the job does; empty if one does, None without lines."""
    mine = [
        launch for launch in job.launches if launch.program in SLURM_PROGRAMS and launch.executable not in _INSPECTS
    ]
    if not mine:
        return None
    if any(_ASKS.search(launch.text) for launch in mine):
        return ""
    view.note(mine[0])
    return mine[0].text[:80]


@derived
def finds_no_gpu(host: Host, view: View) -> bool | None:
    """Does nvidia-smi list no GPU, or CUDA find none, on this host?"""
    event = next((e for e in view.events_on(host.name, UNAVAILABLE) if is_cuda_unavailable(e, view)), None)
    if event is not None:
        view.note(event)
        return True
    if host.gpus_attached is not None:
        view.note(host, "gpus_attached")
        return host.gpus_attached == 0
    return False if host.gpus else None
