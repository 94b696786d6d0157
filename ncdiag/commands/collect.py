"""``ncdiag collect -o BUNDLE.tar.gz``: what ``check`` would read, as one archive to be judged elsewhere.

``--python`` and ``--script`` print programs that make one on a host without ncdiag.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import AskNccl, Deltas, Pid, application

app = application()


@app.command(
    help="Save what 'check' reads from this host in one archive, a bundle. 'check --from', 'parse' and "
    "'triage' diagnose it on any machine. --python and --script print a program that does the same on a "
    "host without ncdiag."
)
def collect(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="BUNDLE.tar.gz", help="Archive to write (-: standard output)."),
    ] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Save a recorded tree (/sys, /proc, /etc) instead of this host.")
    ] = Path("/"),
    pid: Pid = None,
    *,
    ask_nccl: AskNccl = None,
    deltas: Deltas = False,
    python: Annotated[
        bool, typer.Option("--python", help="Print a Python program (3.6 or newer) that writes a bundle.")
    ] = False,
    script: Annotated[
        bool, typer.Option("--script", help="Print a POSIX shell script that prints the same data as text.")
    ] = False,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace names and addresses with placeholders in the bundle.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
) -> int:
    """Write a bundle, or print what writes one."""
    from ncdiag.base.errors import UsageError
    from ncdiag.commands._output import say, write

    if python or script:
        from ncdiag.machine import remote

        if python and script:
            msg = "--python and --script cannot be used together"
            raise UsageError(msg)
        write(remote.python_program() if python else remote.shell_script(), output, encoding="utf-8")
        return 0
    if output is None:
        msg = "no archive to write was given: use -o BUNDLE.tar.gz"
        raise UsageError(msg)
    from ncdiag.machine import bundle
    from ncdiag.machine.host import DELTA_SECONDS, pack

    packed = pack(root, ask_library=ask_nccl, pid=pid, deltas=DELTA_SECONDS if deltas else 0)
    if redact:
        from ncdiag.apps.redact import bundle_cleaned

        packed = bundle_cleaned(packed)
    bundle.write(packed, output)
    if not quiet:
        missing = packed.manifest.not_seen
        say(f"{output}: {len(packed.recorded.files)} files from {packed.recorded.host}")
        for item in missing:
            say(f"not read: {item}")
    return 0
