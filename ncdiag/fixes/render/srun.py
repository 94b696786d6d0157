"""For Slurm's srun: the variable is in srun's environment, which ``--export=ALL`` passes to every task.

Not ``--export=ALL,NAME=VALUE``: srun splits that list at commas, and a variable that is already in the environment may
override the one in the list (Slurm src/srun/libsrun/launch.c, _build_user_env).
"""

from __future__ import annotations

from ncdiag.fixes.render import Change, prefixed

LAUNCHER = "srun"
PROGRAMS = ("srun", "sbatch")
TAG = r"\d{1,7}:$"  # --label


def line(change: Change) -> str | None:
    """``env -u B A=1 srun --export=ALL ...``."""
    return prefixed(change, "srun --export=ALL ...")
