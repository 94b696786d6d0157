"""``ncdiag run -- COMMAND...``: start a job, watch it, and report why it failed or hangs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import Options, StackMode, application, shared

app = application()


@app.command(
    context_settings={"allow_interspersed_args": False},
    help="Start a job with NCCL logging enabled, and explain why it failed or hangs. The job's output, "
    "signals and exit code are passed through; the diagnosis goes to standard error, or to the -o file.",
)
@shared
def run(
    command: Annotated[list[str], typer.Argument(metavar="[--] COMMAND...")],
    *,
    hang_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            show_default="300",
            help="Diagnose when the job prints nothing for this many seconds (0: never).",
        ),
    ] = None,
    kill_on_hang: Annotated[bool, typer.Option("--kill-on-hang", help="Stop the job if it hangs.")] = False,
    kill_grace: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Seconds between SIGTERM and SIGKILL when the job is stopped."),
    ] = 10.0,
    logs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the NCCL logs in this folder; for several hosts, use a shared folder."),
    ] = None,
    stacks: Annotated[
        StackMode,
        typer.Option(
            help="Stacks of a job that hangs: of Python by py-spy, without stopping anything (auto), also of compiled "
            "code, which stops each process for a moment (native), written by the processes themselves (faulthandler, "
            "which auto also uses if py-spy may not read them), or none (never)."
        ),
    ] = StackMode.auto,
    options: Options,
) -> int:
    """Run a job; the exit code is its own."""
    if not hasattr(os, "posix_spawn") or sys.platform != "linux":
        from ncdiag.base.errors import UsageError

        msg = "ncdiag run needs Linux; 'ncdiag parse' diagnoses the logs of a job on any system"
        raise UsageError(msg)
    from ncdiag.apps.watching import die_of
    from ncdiag.commands._run import Runner

    code = Runner(command, options, hang_after, kill_grace if kill_on_hang else None, logs, stacks=stacks.value).run()
    if code < 0:
        die_of(-code)
    return code if code >= 0 else 128 - code
