"""The folders in which shells search for a user's completion scripts, and the scripts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ncdiag.base.errors import OutputError

_LINE = "# Completion of ncdiag, made by 'ncdiag completion {shell} --install'; it is replaced by the next one.\n"


class Place(NamedTuple):
    """The file for a script, and what else a shell needs to find it."""

    file: Path
    hint: str


def script(shell: str) -> str:
    """The completion script of a shell."""
    from typer._completion_shared import get_completion_script  # typer uses it only for its own option

    made = get_completion_script(prog_name="ncdiag", complete_var="_NCDIAG_COMPLETE", shell=shell)
    return f"{made}\n"


def place(shell: str) -> Place:
    """The standard folder of a user for the shell."""
    return _PLACES[shell]()


def content(shell: str) -> str:
    """The content of that file.

    zsh requires its mark in the first line, and runs the file for the first word that it completes.
    """
    head = _LINE.format(shell=shell)
    if shell != "zsh":
        return head + script(shell)
    mark, rest = script(shell).split("\n", 1)
    return f'{mark}\n{head}{rest}_ncdiag_completion "$@"\n'


def _folder(variable: str, default: str) -> Path:
    given = os.environ.get(variable, "")
    if Path(given).is_absolute():
        return Path(given)
    try:
        return Path.home() / default
    except RuntimeError as error:  # no HOME, and an unknown user
        msg = f"there is no home folder: set HOME or {variable}"
        raise OutputError(msg) from error


def _bash() -> Place:
    named = os.environ.get("BASH_COMPLETION_USER_DIR", "").partition(":")[0]  # several since bash-completion 2.12
    folder = Path(named) if named else _folder("XDG_DATA_HOME", ".local/share") / "bash-completion"
    file = folder / "completions" / "ncdiag"
    return Place(
        file, f"new shells load it if the package bash-completion is installed; otherwise add to ~/.bashrc: . {file}"
    )


def _zsh() -> Place:
    folder = _folder("XDG_DATA_HOME", ".local/share") / "zsh" / "site-functions"
    return Place(folder / "_ncdiag", f"add to ~/.zshrc, before compinit: fpath=({folder} $fpath)")


def _fish() -> Place:
    return Place(_folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "ncdiag.fish", "new shells load it")


_PLACES: dict[str, Callable[[], Place]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
