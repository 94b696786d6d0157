"""For horovodrun, which passes its whole environment to all ranks and has no option for a single variable.

Source: Horovod horovod/runner/mpi_run.py and gloo_run.py; horovod/runner/common/util/env.py lists what it excludes.
"""

from __future__ import annotations

from ncdiag.fixes.render import Change, prefixed

LAUNCHER = "horovodrun"
PROGRAMS = ("horovodrun",)


def line(change: Change) -> str | None:
    """``env -u B A=1 horovodrun ...``."""
    return prefixed(change, "horovodrun ...")
