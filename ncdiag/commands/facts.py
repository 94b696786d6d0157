"""``ncdiag facts FILE...``: what was understood, nothing judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

app = application()


@app.command(help="Print what was understood, as JSON. The names are those that rules use; nothing is judged.")
def facts(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")] = False,
) -> int:
    """Print the merged facts."""
    import json

    import msgspec

    from ncdiag.commands._interrupt import Interruption
    from ncdiag.commands._judge import INTERRUPTED, told
    from ncdiag.read import job_of, read_source
    from ncdiag.report.sanitize import json_escapes
    from ncdiag.sources.files import open_sources

    with Interruption() as interruption:
        sources = interruption.watch(told(open_sources(files), quiet=quiet))
        job = job_of([read_source(source) for source in sources if hasattr(source, "buffers")])
    write(
        json_escapes(json.dumps(msgspec.to_builtins(job), ensure_ascii=False, indent=1)) + "\n",
        output,
        encoding="utf-8",
    )
    return INTERRUPTED if interruption.happened else 0
