"""``ncdiag mcp``: a server of the Model Context Protocol, by which an assistant asks ncdiag."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application

app = application()

_LEAST = 4000


@app.command(
    help="Run a Model Context Protocol server on standard input and output that gives an AI assistant the "
    "commands triage, explain, predict and lint and the rules. It reads only the text it is sent and "
    "files under the --allow folders, and opens no network connection. Requires the mcp package: pip "
    "install 'ncdiag[mcp]'."
)
def mcp(
    *,
    allow: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Let the assistant read files in this folder and its subfolders (repeatable)."
        ),
    ] = None,
    no_redact: Annotated[
        bool,
        typer.Option("--no-redact", help="Keep names and addresses in the answers; secrets stay hidden."),
    ] = False,
    seconds: Annotated[float, typer.Option(metavar="N", min=1, help="Time limit of one call, in seconds.")] = 60,
    max_input: Annotated[
        int, typer.Option(metavar="N", min=1000, help="Maximum length of an input text, in characters.")
    ] = 4 << 20,
    max_output: Annotated[
        int,
        typer.Option(metavar="N", min=_LEAST, help="Maximum length of an answer, in characters (text and JSON each)."),
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
        msg = "ncdiag mcp needs standard input and output to talk to the assistant"
        raise UsageError(msg)
    from ncdiag.apps.mcp import Settings, allowed, serve

    if sys.stdin.isatty():
        say("waiting for an assistant on standard input; docs/assistants.md explains how to register this command")
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
