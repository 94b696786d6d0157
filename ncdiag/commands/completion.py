"""``ncdiag completion bash|zsh|fish``: what makes a shell complete commands, options and files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import say, to_file, write

app = application()


@app.command(
    help="Print the completion script for a shell, or install it as a file in the folder that the shell "
    "searches for completions. Changes no start-up file."
)
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish")],
    *,
    install: Annotated[bool, typer.Option("--install", help="Install the script for the current user.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
) -> int:
    """Print the script of a shell, or write it where the shell finds it."""
    from ncdiag.base.errors import OutputError
    from ncdiag.commands import _shells

    if not install:
        write(_shells.script(shell), None)
        return 0
    place, content = _shells.place(shell), _shells.content(shell)
    try:
        place.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot create {place.file.parent}: {error.strerror or error}"
        raise OutputError(msg) from error
    to_file([content.encode()], place.file)
    if not quiet:
        say(f"{place.file} was written; {place.hint}")
    return 0
