"""Command lines of ncdiag in scripts, manifests and pages, read by its own parser of options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import typer

from ncdiag.cli import app, command_names
from ncdiag.commands._arguments import meant

_WORDS = r"""(?:\\\n|"[^"\n]*"|'[^'\n]*'|[^\n|&;<>)`"'])*"""
_LINE = re.compile(rf"""(?:(?<=[\s/`'"])|^)ncdiag ((?:{"|".join(command_names())})\b{_WORDS})""")


def written_in(text: str) -> Iterator[list[str]]:
    """The words behind ``ncdiag`` of each line that begins with a command; comments after them are cut."""
    for found in _LINE.finditer(text):
        yield shlex.split(found[1].replace("\\\n", " "), comments=True)


def options_of(words: Sequence[str]) -> dict[str, object]:
    """The parameters of the command as the program reads them. Raises the usage error of a wrong option."""
    group = typer.main.get_command(app)
    name, *rest = meant(words, command_names())
    command = group.get_command(group.make_context("ncdiag", [name]), name)  # type: ignore[attr-defined]
    context = command.make_context(name, [*rest])
    parameters: dict[str, object] = context.params
    return parameters
