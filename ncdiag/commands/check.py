"""``ncdiag check [--root DIR]``: the machine at hand, or a recorded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.commands._options import Options, application, shared

if TYPE_CHECKING:
    from ncdiag.report.model import Report
    from ncdiag.sources.live import NotSeen

app = application()


@app.command(help="Judge this host. Reads /sys and /proc and runs the usual tools; changes nothing.")
@shared
def check(
    root: Annotated[Path, typer.Option(metavar="DIR", help="Read a recorded tree instead of this host.")] = Path("/"),
    *,
    options: Options,
) -> int:
    """Look at a host and judge what was seen."""
    from ncdiag.commands._judge import answer
    from ncdiag.diagnose import Live, diagnose
    from ncdiag.read import read_sections
    from ncdiag.sources.live import collect

    asked = options.judging()

    def find(_: object) -> Report:
        seen = collect(root)
        readings = read_sections(seen.sections)
        name = "this host" if root == Path("/") else str(root)
        not_seen = [_phrase(item) for item in seen.not_seen]
        return diagnose(readings, asked, Live(name=name, observations=seen.observations, not_seen=not_seen))

    return answer(find, options)


def _phrase(item: NotSeen) -> str:
    """What was not seen, why, and the command that would tell."""
    return f"{item.what}: {item.why}" + (f" ({item.ask})" if item.ask else "")
