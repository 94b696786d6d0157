"""``ncdiag demo``: three shipped faults, diagnosed one after the other."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ncdiag.commands._options import Options, application
from ncdiag.commands._output import fitted, write

if TYPE_CHECKING:
    from ncdiag.report.model import Report
    from ncdiag.text import Stop

app = application()


class _Fault(NamedTuple):
    """A shipped input: its name in a wheel, its path in a checkout, and a person's description of it."""

    name: str
    place: str
    told: str


FAULTS = (
    _Fault("veth.log", "fixtures/cases/veth/nccl.log", "A job on two hosts hangs at startup."),
    _Fault(
        "roce.txt",
        "fixtures/cases/roce-gid-3-old/paste.txt",
        "A job on RoCE fails with error 12 while the ranks connect.",
    ),
    _Fault("container.txt", "fixtures/cases/shm-64m/paste.txt", "A job in a container on one host fails."),
)
"""pyproject.toml puts them into the wheel as ``ncdiag/_demo``."""


@app.command(
    help="Diagnose three example failures that come with ncdiag: a log, the output of tools, a container. On "
    "a terminal, press Enter to continue or q to quit."
)
def demo(
    *, no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False
) -> int:  # fmt: skip
    """Show what an answer looks like."""
    import shutil

    from ncdiag.commands._judge import answer

    columns = shutil.get_terminal_size().columns
    for number, fault in enumerate(FAULTS, 1):
        write(f"{fitted(f'{number} of {len(FAULTS)}: {fault.told}', columns)}\n$ ncdiag {fault.name}\n\n", None)
        answer(partial(_judged, fault), Options(no_color=no_color))
        if number < len(FAULTS) and not _goes_on():
            return 0
    more = "Your turn: 'ncdiag FILE' diagnoses a log, 'ncdiag check' this host; 'ncdiag --help' lists all commands."
    write(f"\n{fitted(more, columns)}\n", None)
    return 0


def _judged(fault: _Fault, _stop: Stop) -> Report:
    from ncdiag.diagnose import diagnose
    from ncdiag.text import TextSource

    return diagnose([TextSource.of_bytes(fault.name, _path(fault).read_bytes())])


def _path(fault: _Fault) -> Path:
    from ncdiag.base import compiled

    shipped = compiled.PACKAGE / "_demo" / fault.name
    return compiled.PACKAGE.parent / fault.place if compiled.is_checkout() else shipped


def _goes_on() -> bool:
    """False if a person at a terminal wants to stop; in a pipe nobody is asked."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        write("\n", None)
        return True
    write("\n-- Enter: next example, q: quit -- ", None)
    line = sys.stdin.readline()
    write("\n", None)
    return bool(line) and line.strip().lower() not in {"q", "quit"}
