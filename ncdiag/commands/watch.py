"""``ncdiag watch LOG...``: follow logs and report the root cause as soon as they show one."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ncdiag.commands._options import Compared, Options, Since, StackMode, Until, application, shared, window_of

app = application()


@app.command(
    help="Follow growing logs and print a diagnosis when a failure appears, when the logs stop growing, and "
    "at the end or on Ctrl-C; each root cause once. LOG: a file, folder or glob pattern (new files are "
    "followed too), or - for a pipe."
)
@shared
def watch(
    logs: Annotated[list[str], typer.Argument(metavar="LOG...")],
    *,
    hang_after: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="Diagnose when the logs did not grow for this many seconds (0: never)."
        ),
    ] = 300.0,
    since: Since = None,
    until: Until = None,
    compared: Compared = None,
    stacks: Annotated[
        StackMode, typer.Option(help="Stacks of the processes that write the logs on this host: see ncdiag run.")
    ] = StackMode.auto,
    options: Options,
) -> int:
    """Follow logs; the exit code is that of the last diagnosis."""
    if not hasattr(os, "fork"):
        from ncdiag.base.errors import UsageError

        msg = "ncdiag watch needs a system with fork(2); 'ncdiag parse' diagnoses logs on any system"
        raise UsageError(msg)
    from ncdiag.commands._watch import Watcher

    ends = window_of(since, until, compared) if compared else None
    window, mode = window_of(since, until), stacks.of_a_running_job()
    return Watcher(logs, options, hang_after, window, mode=mode, ends=ends).watch()
