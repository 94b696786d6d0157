"""``ncdiag completion bash|zsh|fish``: what makes a shell complete commands, options and files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

app = application()


@app.command(help="Print the completion script of your shell. Put the line for your shell into its start-up file.")
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish")]) -> int:
    """Print the script of a shell."""
    from typer._completion_shared import get_completion_script  # typer makes them for its own option alone

    script = get_completion_script(prog_name="ncdiag", complete_var="_NCDIAG_COMPLETE", shell=shell)
    write(f"{script}\n", None)
    return 0
