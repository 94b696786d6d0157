# ruff: noqa: INP001  (a script beside the package)
"""Write the manual page, generated from the texts of ``--help``: ``python tools/man.py FILE``.

The build of a wheel runs it (hatch_build.py), so it may import only packages that ``build-system.requires`` names.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from ncdiag.base.version import __version__
from ncdiag.cli import app

_COLUMNS = 70
"""Characters of a line before markup is added, which makes it longer: readers of the source expect 80."""
_INTRODUCTION = """ncdiag finds out why a job over NCCL, RCCL or HCCL hangs, fails to connect or is slow. It reads what
there is (a log, a paste, the node itself) and answers with one root cause, the lines that show it, and the line to
paste into the launcher. 'ncdiag FILE' is short for 'ncdiag triage FILE', and what is piped in is judged without a
command."""
_EXIT = (
    ("0", "nothing at or above --fail-on (default: error)"), ("1", "findings"),
    ("2", "a wrong option, or an input that cannot be read"), ("3", "nothing in the input was understood"),
    ("4", "the output cannot be written"), ("5", "an error of ncdiag itself, and no finding"),
    ("130, 141", "interrupted; the reader of the output went away"),
)  # fmt: skip
_ENVIRONMENT = (
    ("NCDIAG_CONFIG", "the config file, in place of ./ncdiag.toml"),
    ("NCDIAG_DEBUG", "1: show where an error of ncdiag itself is"),
    ("NO_COLOR, FORCE_COLOR", "no colours at all; colours in a pipe as well"),
    ("COLUMNS", "the width of the terminal"),
    ("XDG_CACHE_HOME", "where compiled rules are kept (~/.cache)"),
)


def page() -> str:
    """The manual page in the macros of man(7)."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    group: Any = typer.main.get_command(app)  # a group, whose class moved between releases
    context = _context(group, "ncdiag", None)
    yield '.\\" Made by tools/man.py from the texts of --help'
    yield f'.TH NCDIAG 1 "" "ncdiag {__version__}" "User Commands"'
    yield from (".SH NAME", "ncdiag \\- find the root cause of NCCL network failures")
    yield from (".SH SYNOPSIS", ".B ncdiag", "[\\fIFILE\\fR...]", ".br", ".B ncdiag")
    yield "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]"
    yield from (".SH DESCRIPTION", *_lines(_INTRODUCTION), ".SH COMMANDS")
    for name in group.list_commands(context):
        yield from _command(group.get_command(context, name), f"ncdiag {name}", context)
    for title, rows in (("EXIT STATUS", _EXIT), ("ENVIRONMENT", _ENVIRONMENT)):
        yield f".SH {title}"
        for word, meaning in rows:
            yield from (".TP", f".B {_escaped(word)}", *_lines(meaning))
    yield from (
        ".SH FILES",
        ".TP",
        ".I ncdiag.toml",
        "private rule packs, ignored rules and the baseline of this folder",
    )


def _context(command: Any, name: str, parent: Any) -> Any:  # noqa: ANN401  (the classes moved between releases)
    return command.context_class(command, info_name=name, parent=parent)


def _command(command: Any, name: str, parent: Any) -> Iterator[str]:  # noqa: ANN401
    context = _context(command, name.rpartition(" ")[2], parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f".SS {_escaped(f'{name} {usage}')}", *_lines(command.help or ""))
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", f".B {_escaped(record[0])}", *_lines(record[1]))
    yield from _examples(command.epilog or "")
    for inner in getattr(command, "commands", {}).values():
        yield from _command(inner, f"{name} {inner.name}", context)


def _examples(epilog: str) -> Iterator[str]:
    lines = [line.strip() for line in epilog.splitlines() if line.startswith("  ")]
    if lines:
        yield from (".PP", "Examples:", ".PP", ".nf", ".RS", *map(_escaped, lines), ".RE", ".fi")


def _lines(text: str) -> Iterator[str]:
    """A text with at most one sentence per line, as usual in manual pages."""
    for sentence in re.split(r"(?<=[.;]) (?=\w)", " ".join(text.split())):
        for line in textwrap.wrap(sentence, _COLUMNS, break_long_words=False, break_on_hyphens=False):
            yield _escaped(line)


_MARKS = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
"""The backslash is first, because the escapes begin with it."""


def _escaped(text: str) -> str:
    """Text escaped for roff: a hyphen stays one when it is copied, and no line is a request."""
    for character, mark in _MARKS.items():
        text = text.replace(character, mark)
    return f"\\&{text}" if text.startswith(".") else text


def main(arguments: list[str]) -> int:
    """Write the page to the given file; returns 2 unless there is exactly one argument."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python tools/man.py FILE\n")
        return 2
    path = Path(arguments[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
