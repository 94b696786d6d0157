"""``ncdiag mcp``: a server of the Model Context Protocol, by which an assistant asks ncdiag."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application

app = application()

_LEAST = 4000


@app.command(
    help="Serve triage, explain, predict, lint and the rule book to an assistant, over standard input and output "
    "(Model Context Protocol). Judges the texts that come in; reads files only below --allow, and opens no connection. "
    "Needs the package mcp: pip install 'ncdiag[mcp]'."
)
def mcp(
    *,
    allow: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Let the assistant name files below this folder.")
    ] = None,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Answer with names, addresses and secrets as they are in the input.")
    ] = False,
    seconds: Annotated[float, typer.Option(metavar="N", min=1, help="The time of one call.")] = 60,
    max_input: Annotated[int, typer.Option(metavar="N", min=1000, help="Characters of a text that are read.")] = 4
    << 20,
    max_output: Annotated[
        int, typer.Option(metavar="N", min=_LEAST, help="Characters of an answer, as text and as JSON each.")
    ] = 24_000,
) -> int:
    """Answer until standard input ends."""
    import importlib.util
    import sys

    from ncdiag.base.errors import UsageError
    from ncdiag.commands._output import say

    if importlib.util.find_spec("mcp_types") is None:
        msg = "ncdiag mcp needs the package mcp, release 2 or newer: pip install 'ncdiag[mcp]'"
        raise UsageError(msg)
    if sys.stdin is None or sys.stdout is None:
        msg = "ncdiag mcp needs standard input and output, on which the assistant speaks"
        raise UsageError(msg)
    from ncdiag.apps.mcp import Settings, allowed, serve

    if sys.stdin.isatty():
        say("waiting for an assistant on standard input; docs/assistants.md says how to register this command")
    folders = allowed.folders(allow or ())
    serve(
        Settings(
            folder=Path(),
            folders=folders,
            redact=not no_redact,
            most_in=max_input,
            most_out=max_output,
            seconds=seconds,
        )
    )
    return 0
