"""``ncdiag parse FILE...``: the logs of one job."""

from __future__ import annotations

from typing import Annotated

import typer

from ncdiag.commands._options import Compared, Options, Since, Until, application, shared, window_of

app = application()


@app.command(
    help="Diagnose one job from its logs. FILE: a file, folder, glob pattern, archive or bundle; - is standard input."
)
@shared
def parse(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    *,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Write the parsed input instead of a report; 'ncdiag parse' then diagnoses several such "
            "files as one job.",
        ),
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="Treat each file as a separate job and print one line per job.")
    ] = False,
    since: Since = None,
    until: Until = None,
    compared: Compared = None,
    options: Options,
) -> int:
    """Diagnose the logs of one job, or of many."""
    window = window_of(since, until, compared)
    if partial:
        from ncdiag.base.errors import UsageError
        from ncdiag.commands._partial import write_partial
        from ncdiag.machine.inputs import inputs

        if each:
            msg = "--partial and --each cannot be used together: --partial makes no diagnosis"
            raise UsageError(msg)
        return write_partial(lambda: inputs(files), options, window=window)
    if each:
        from ncdiag.commands._each import judge_each

        return judge_each(files, options, window)
    from ncdiag.commands._judge import judge

    return judge(files, options, window)
