"""``ncdiag triage [FILE...|-]``: any pasted mixture."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ncdiag.commands._options import Compared, Options, Since, Until, application, shared, window_of
from ncdiag.commands._output import say

app = application()


@app.command(help="Diagnose any mix of pasted logs and tool output. Without FILE, or with -, reads standard input.")
@shared
def triage(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    *,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask questions that would narrow it down (y, n, skip, or paste output).")
    ] = False,
    since: Since = None,
    until: Until = None,
    compared: Compared = None,
    options: Options,
) -> int:
    """Diagnose a paste."""
    from ncdiag.commands._judge import judge, judge_asking

    files, window = files or ["-"], window_of(since, until, compared)
    if ask:
        return judge_asking(files, options, window)
    if files == ["-"] and not options.quiet and sys.stdin is not None and sys.stdin.isatty():
        say("paste the log or output here, then press Ctrl-D")
    return judge(files, options, window)
