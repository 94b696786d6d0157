"""``ncdiag check [BUNDLE | DIR ...]``: the machine at hand, or recorded ones, several as the hosts of one job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.commands._options import AskNccl, Deltas, Options, Pid, application, shared

if TYPE_CHECKING:
    from ncdiag.report.model import Report

app = application()


@app.command(
    help="Judge this host, or recorded ones, as the hosts of one job. Reads /sys and /proc and runs the usual tools; "
    "changes nothing."
)
@shared
def check(
    recorded: Annotated[list[str] | None, typer.Argument(metavar="[BUNDLE | DIR]...", show_default=False)] = None,
    root: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Read a recorded tree instead of this host.")
    ] = None,
    bundle: Annotated[
        list[Path] | None, typer.Option("--from", metavar="BUNDLE", help="Judge an archive made by 'ncdiag collect'.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="AREA", help="Show one area of the table, or several (--list has them).")
    ] = None,
    pid: Pid = None,
    *,
    ask_nccl: AskNccl = None,
    deltas: Deltas = False,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Show what differs from this saved state: a bundle, a tree or outputs."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the looks and what they read, and do nothing.")] = False,
    options: Options,
) -> int:
    """Look at a host and judge what was seen."""
    from ncdiag.commands._judge import answer

    if list_:
        from ncdiag.commands._collectors import listing
        from ncdiag.commands._looks import listing as looks
        from ncdiag.commands._output import for_people

        for_people(f"{looks()}\n{listing()}", options.output)
        return 0

    from ncdiag.commands._beside import saved
    from ncdiag.commands._looks import restricted, wanted

    areas = wanted(only or ())

    def find(_: object) -> Report:
        import msgspec

        from ncdiag.diagnose import diagnose
        from ncdiag.machine.host import DELTA_SECONDS, apart, look, unpack

        seconds = DELTA_SECONDS if deltas else 0
        packed = [*(bundle or ()), *(recorded or ())]
        trees = root or ([] if packed else [Path("/")])
        seen = [look(tree, ask_library=ask_nccl, pid=pid, deltas=seconds) for tree in trees]
        seen += [unpack(path) for path in packed]
        good = baseline or options.good_state()
        asked = msgspec.structs.replace(options.judging(), table=True, baseline=saved(good) if good else None)
        return restricted(diagnose(apart(seen), asked), areas)

    return answer(find, options)
