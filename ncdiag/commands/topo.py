"""``ncdiag topo [FILE...]``: which GPUs and NICs hang at which CPU, and how far they are from each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.base.errors import NOTHING_UNDERSTOOD
from ncdiag.commands._options import Lang, application, language_of
from ncdiag.commands._output import say, write

app = application()


@app.command(
    help="Draw the GPUs and NICs of each CPU and the links between them; faulty links are marked. Reads FILE "
    "(nvidia-smi topo -m, an NCCL topology file, a bundle) or this host."
)
def topo(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the drawing as an SVG image.")] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Read a recorded tree (/sys, /proc, /etc) instead of this host.")
    ] = Path("/"),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    *,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False,
    lang: Lang = None,
) -> int:
    """Draw the hosts."""
    import shutil

    from ncdiag.commands._judge import told, wants_colour
    from ncdiag.commands._options import Options
    from ncdiag.language import speak
    from ncdiag.machine.inputs import inputs_or_host
    from ncdiag.report.topology import plan, text
    from ncdiag.text import read_all

    speak(language_of(lang))
    items = inputs_or_host(files or (), root, ask_library=False)
    found = plan.pictures(read_all(told(items, quiet=quiet)).job())
    if not found:
        say("no GPUs or links were found; give the output of 'nvidia-smi topo -m' or an NCCL topology file")
        return NOTHING_UNDERSTOOD
    if svg is not None:
        from ncdiag.report.topology.svg import render

        write(render(found), svg, encoding="utf-8")
    colour = wants_colour(Options(no_color=no_color, output=output))
    write(text.render(found, width=shutil.get_terminal_size().columns, colour=colour), output)
    return 0
