"""``ncdiag schema [report|diff|facts]``: the JSON schema of what ncdiag prints for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

app = application()


@app.command(
    help="Print the JSON schema (2020-12) of '--format json' output: of a report (triage, parse, check, "
    "probe), of 'ncdiag diff', or of 'ncdiag facts'."
)
def schema(
    name: Annotated[str, typer.Argument(metavar="[report|diff|facts]", show_default=False)] = "report",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
) -> int:
    """Print a schema."""
    import json

    from ncdiag.report.schema import schema as made

    write(json.dumps(made(name), ensure_ascii=False, indent=1) + "\n", output, encoding="utf-8")
    return 0
