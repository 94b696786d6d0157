"""``ncdiag facts FILE...``: what was understood, nothing judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

app = application()


@app.command(
    help="Print the facts read from the input, as JSON, without a diagnosis. Types and fields have the names that "
    "rules use."
)
def facts(
    files: Annotated[list[str], typer.Argument(metavar="FILE...")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Replace names and addresses with placeholders.")] = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show passwords, keys and tokens of the input.")
    ] = False,
    unread: Annotated[
        bool, typer.Option("--unread", help="Print the lines that were not recognised instead of the facts.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
) -> int:
    """Print the merged facts."""
    import json

    import msgspec

    from ncdiag.base.errors import INTERRUPTED, UsageError
    from ncdiag.commands._interrupt import interruptible
    from ncdiag.commands._judge import told
    from ncdiag.diagnose import hiding_of
    from ncdiag.formats.secrets.hiding import Hiding
    from ncdiag.machine.inputs import inputs
    from ncdiag.report.hidden import hidden
    from ncdiag.report.sanitize import json_escapes, one_line
    from ncdiag.text import read_all

    items = told(inputs(files), quiet=quiet)
    if unread:
        if redact:
            msg = "--unread prints input lines with their names; redact them with `ncdiag redact`"
            raise UsageError(msg)
        spans = [span for reading in read_all(items).readings for span in reading.unread]
        texts = [span.text for span in spans]
        shown = texts if show_secrets else Hiding().lines(texts)
        lines = (f"{span.source}:{span.line}: {text}" for span, text in zip(spans, shown, strict=True))
        write("".join(f"{one_line(line)}\n" for line in lines), output)
        return 0
    with interruptible() as stop:
        case = read_all(items, stop=stop)
    job = case.job() if show_secrets else hidden(case.job(), hiding_of(case))
    if redact:
        from ncdiag.apps.redact import Redactor, names_of, structure_cleaned

        job = structure_cleaned(job, Redactor(names_of(job)))
    write(
        json_escapes(json.dumps(msgspec.to_builtins(job), ensure_ascii=False, indent=1)) + "\n",
        output,
        encoding="utf-8",
    )
    return INTERRUPTED if stop.happened else 0
