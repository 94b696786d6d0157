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
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Write what was read instead of judging it; 'ncdiag parse' judges several such files as one job.",
        ),
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="Each file is a separate job: one line per job.")] = False,
    options: Options,
) -> int:
    """Diagnose the logs of one job, or of many."""
    if partial:
        from ncdiag.base.errors import UsageError
        from ncdiag.commands._partial import write_partial
        from ncdiag.machine.inputs import inputs

        if each:
            msg = "--partial judges nothing, so there is no job for --each"
            raise UsageError(msg)
        return write_partial(lambda: inputs(files), options)
    if each:
        from ncdiag.commands._each import judge_each

        return judge_each(files, options)
    from ncdiag.commands._judge import judge

    return judge(files, options)
