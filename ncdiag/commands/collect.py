"""``ncdiag collect -o BUNDLE.tar.gz``: what ``check`` would read, as one archive to be judged elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application

app = application()


@app.command(
    help="Pack what 'check' would read into one archive. 'check --from', 'parse' and 'triage' judge it anywhere."
)
def collect(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="BUNDLE.tar.gz", help="The archive to write; - is standard output."),
    ],
    root: Annotated[Path, typer.Option(metavar="DIR", help="Pack a recorded tree instead of this host.")] = Path("/"),
    pid: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Environment and limits of this running process.")
    ] = None,
    *,
    nccl: Annotated[bool, typer.Option("--nccl/--no-nccl", help="Ask the installed NCCL what it picks.")] = True,
    deltas: Annotated[bool, typer.Option("--deltas", help="Take two samples of the counters, 2 s apart.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")] = False,
) -> int:
    """Write a bundle."""
    from ncdiag.commands._output import say
    from ncdiag.node import DELTA_SECONDS, pack
    from ncdiag.sources import bundle

    bundle.write(packed := pack(root, ask_library=nccl, pid=pid, deltas=DELTA_SECONDS if deltas else 0), output)
    if not quiet:
        not_seen = len(packed.manifest.not_seen)
        say(f"{output}: {len(packed.recorded.files)} files of {packed.recorded.host}; {not_seen} things were not seen")
    return 0
