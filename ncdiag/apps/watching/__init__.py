"""Diagnose a job while it runs, and logs while they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.apps.watching import handlers, jobs, launch, place, settings, stacks, standing, torch
    from ncdiag.apps.watching.follow import PIECE, Files
    from ncdiag.apps.watching.job import Job, die_of
    from ncdiag.apps.watching.judging import Judging
    from ncdiag.apps.watching.outputs import Outputs
    from ncdiag.apps.watching.progress import Progress
    from ncdiag.apps.watching.session import End, Hang, Session
    from ncdiag.apps.watching.stacks import Mode

__all__ = [
    "PIECE",
    "End",
    "Files",
    "Hang",
    "Job",
    "Judging",
    "Mode",
    "Outputs",
    "Progress",
    "Session",
    "die_of",
    "handlers",
    "jobs",
    "launch",
    "place",
    "settings",
    "stacks",
    "standing",
    "torch",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "": ("handlers", "jobs", "launch", "place", "settings", "stacks", "standing", "torch"),
        "follow": ("Files", "PIECE"),
        "job": ("Job", "die_of"),
        "judging": ("Judging",),
        "outputs": ("Outputs",),
        "progress": ("Progress",),
        "session": ("End", "Hang", "Session"),
        "stacks": ("Mode",),
    },
)
