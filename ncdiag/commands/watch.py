"""``ncdiag watch LOG...``: follow logs and tell the root cause as soon as they show one."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ncdiag.commands._options import Options, application, shared

app = application()


@app.command(
    help="Follow growing logs and print the diagnosis when a failure appears, when nothing comes for long, and at the "
    "end or Ctrl-C; each root cause once. LOG: a file, a folder or a glob, with what appears later; - is a pipe."
)
@shared
def watch(
    logs: Annotated[list[str], typer.Argument(metavar="LOG...")],
    *,
    hang_after: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Diagnose when nothing was added for so long; 0: never."),
    ] = 300.0,
    options: Options,
) -> int:
    """Follow logs; the exit code is that of the last diagnosis."""
    if not hasattr(os, "fork"):
        from ncdiag.base.errors import UsageError

        msg = "ncdiag watch needs a system with fork(2); 'ncdiag parse' judges logs anywhere"
        raise UsageError(msg)
    from ncdiag.commands._watch import Watcher

    return Watcher(logs, options, hang_after).watch()
