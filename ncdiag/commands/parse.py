"""``ncdiag parse FILE...``: the logs of one job."""

from __future__ import annotations

from typing import Annotated

import typer

from ncdiag.commands._options import Options, application, shared

app = application()


@app.command(help="Judge one job by its logs. FILE: a file, folder, glob, archive or bundle; - is standard input.")
@shared
def parse(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    *,
    each: Annotated[bool, typer.Option("--each", help="Each file is a separate job: one line per job.")] = False,
    options: Options,
) -> int:
    """Diagnose the logs of one job, or of many."""
    if each:
        from ncdiag.commands._each import judge_each

        return judge_each(files, options)
    from ncdiag.commands._judge import judge

    return judge(files, options)
