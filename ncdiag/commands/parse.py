"""``ncdiag parse FILE...``: the logs of one job."""

from __future__ import annotations

from typing import Annotated

import typer

from ncdiag.commands._options import Options, application, shared

app = application()


@app.command(help="Judge one job by its logs. FILE: a file, folder, glob, archive or bundle; - is standard input.")
@shared
def parse(files: Annotated[list[str], typer.Argument(metavar="FILE...")], *, options: Options) -> int:
    """Diagnose the logs of one job."""
    from ncdiag.commands._judge import judge

    return judge(files, options)
