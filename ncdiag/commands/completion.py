"""``ncdiag completion bash|zsh|fish``: what makes a shell complete commands, options and files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import say, to_file, write

app = application()


@app.command(
    help="Print the completion script of your shell, or install it for yourself: a file in the folder where the shell "
    "looks for it. No start-up file is changed."
)
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish")],
    *,
    install: Annotated[bool, typer.Option("--install", help="Write it to the folder of your shell.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")] = False,
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
        msg = f"cannot make {place.file.parent}: {error.strerror or error}"
        raise OutputError(msg) from error
    to_file([content.encode()], place.file)
    if not quiet:
        say(f"{place.file} is written; {place.hint}")
    return 0
