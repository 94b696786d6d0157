"""``ncdiag explain RULE [FILE...]``: what a rule looks for, and how it was judged on an input."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

app = application()


@app.command(help="Explain a rule. With FILE: clause by clause, why it fired on that input or did not.")
def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Its name or code.")],
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    nccl: Annotated[str | None, typer.Option(metavar="VERSION", help="The NCCL version to assume.")] = None,
    rules: Annotated[list[Path] | None, typer.Option(metavar="DIR", help="Add the rules of this folder.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")] = None,
) -> int:
    """Print the rule, or its trace over the facts of the files."""
    from ncdiag.commands import _rulebook
    from ncdiag.report.sanitize import clean

    found = _rulebook.find(rule, rules or ())
    if not files:
        write(clean(_rulebook.page(found)), output)
        return 0
    from ncdiag.commands._judge import told
    from ncdiag.diagnose import view_of
    from ncdiag.engine.evaluate import judge, trace
    from ncdiag.fixes.values import Values
    from ncdiag.read import job_of, read_source
    from ncdiag.sources.files import open_sources

    sources = told(open_sources(files), quiet=False)
    view = view_of(job_of([read_source(source) for source in sources if hasattr(source, "buffers")]), nccl)
    (verdict,) = judge([found], view, Values(view))
    write(clean(_rulebook.judged(verdict, trace(found, view))), output)
    return 0
