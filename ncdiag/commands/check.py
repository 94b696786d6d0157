"""``ncdiag check [--root DIR | --from BUNDLE]``: the machine at hand, or a recorded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.commands._options import AskNccl, Deltas, Options, Pid, application, shared

if TYPE_CHECKING:
    from ncdiag.report.model import Report

app = application()


@app.command(help="Judge this host. Reads /sys and /proc and runs the usual tools; changes nothing.")
@shared
def check(
    root: Annotated[Path, typer.Option(metavar="DIR", help="Read a recorded tree instead of this host.")] = Path("/"),
    bundle: Annotated[
        Path | None, typer.Option("--from", metavar="BUNDLE", help="Judge an archive made by 'ncdiag collect'.")
    ] = None,
    pid: Pid = None,
    *,
    ask_nccl: AskNccl = None,
    deltas: Deltas = False,
    list_: Annotated[bool, typer.Option("--list", help="List what is looked at, and do nothing.")] = False,
    options: Options,
) -> int:
    """Look at a host and judge what was seen."""
    from ncdiag.commands._judge import answer

    if list_:
        from ncdiag.commands._collectors import listing
        from ncdiag.commands._output import write

        write(listing(), options.output)
        return 0

    def find(_: object) -> Report:
        from ncdiag.diagnose import diagnose
        from ncdiag.machine.host import DELTA_SECONDS, look, unpack

        seconds = DELTA_SECONDS if deltas else 0
        seen = unpack(bundle) if bundle else look(root, ask_library=ask_nccl, pid=pid, deltas=seconds)
        return diagnose([seen], options.judging())

    return answer(find, options)
