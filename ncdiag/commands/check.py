"""``ncdiag check [BUNDLE | DIR ...]``: this host, or recorded ones, several as the hosts of one job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.base.errors import UsageError
from ncdiag.commands import _complete
from ncdiag.commands._options import AskNccl, Deltas, Options, Pid, StackMode, application, shared
from ncdiag.commands._sweep import Carrier, CarrierOptions, Fanout, Nodes, Push, Timeout, Via, Yes, swept

if TYPE_CHECKING:
    from ncdiag.apps.watching import Mode
    from ncdiag.diagnose import Diagnosed
    from ncdiag.machine.host import Machine, Seen

app = application()


@app.command(
    help="Check this host, or recorded hosts as the hosts of one job. Reads /sys and /proc and runs standard "
    "tools; changes nothing."
)
@shared
def check(
    recorded: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BUNDLE | DIR]...",
            show_default=False,
            help="Recorded hosts: bundles, reports of sos or recorded trees.",
        ),
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Read a recorded tree (/sys, /proc, /etc) instead of this host."),
    ] = None,
    bundle: Annotated[
        list[Path] | None, typer.Option("--from", metavar="BUNDLE", help="Check a bundle written by 'ncdiag collect'.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AREA",
            help="Show only this area of the table (repeatable; --list prints the areas).",
            autocompletion=_complete.areas,
        ),
    ] = None,
    pid: Pid = None,
    *,
    job: Annotated[
        str | None,
        typer.Option(
            metavar="ID|auto",
            help="Examine the processes of this running job of Slurm, or of the only job (auto), as --pid does.",
        ),
    ] = None,
    stacks: Annotated[
        StackMode, typer.Option(help="Stacks of the job's processes (--pid, --job): see ncdiag run.")
    ] = StackMode.auto,
    nodes: Nodes = None,
    via: Carrier = Via.auto,
    ssh_options: CarrierOptions = "",
    host_timeout: Timeout = 60,
    fanout: Fanout = 64,
    push: Push = False,
    yes: Yes = False,
    ask_nccl: AskNccl = None,
    deltas: Deltas = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Show differences from this saved good state: a bundle, a recorded tree or tool output.",
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Write the collected facts instead of a report; 'ncdiag check --from' reads them."
        ),
    ] = False,
    wrapped: Annotated[float | None, typer.Option(hidden=True)] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the checks and what each reads, then exit.")] = False,
    options: Options,
) -> int:
    """Look at a host and judge what was seen."""
    from ncdiag.commands._judge import answer

    if list_:
        from ncdiag.commands._checks import listing as looks
        from ncdiag.commands._collectors import listing
        from ncdiag.commands._output import for_people

        for_people(f"{looks()}\n{listing()}", options.output)
        return 0

    from ncdiag.commands._checks import restricted, wanted

    areas = wanted(only or ())
    mode = stacks.of_a_running_job()

    if wrapped is not None:
        from ncdiag.agent.wrap import leave_with_caller

        leave_with_caller(wrapped)

    def machines() -> list[Seen]:
        if nodes is not None:
            return swept(
                nodes, via, push=push, seconds=host_timeout, fanout=fanout, options=ssh_options, quiet=options.quiet,
                yes=yes, job=_everywhere(pid, job), stacks=mode,
            )  # fmt: skip
        from ncdiag.machine.host import DELTA_SECONDS, apart, look, machines_in

        packed = [*(bundle or ()), *(recorded or ())]
        trees = root or ([] if packed else [Path("/")])
        seconds = DELTA_SECONDS if deltas else 0
        seen = [look(tree, ask_library=ask_nccl, pid=pid, deltas=seconds) for tree in trees]
        if (pid is not None or job is not None) and trees == [Path("/")]:
            seen = [_examined(seen[0], pid, job, mode)]
        return apart([*seen, *(machine for path in packed for machine in machines_in(path))])

    def find(_: object) -> Diagnosed:
        import msgspec

        from ncdiag.diagnose import diagnosed

        asked = msgspec.structs.replace(options.judging(), table=True)
        if good := baseline or options.good_state():
            from ncdiag.commands._beside import saved

            asked = msgspec.structs.replace(asked, baseline=saved(good))
        found = diagnosed(machines(), asked)
        return found._replace(report=restricted(found.report, areas))

    if partial:
        from ncdiag.commands._partial import write_partial

        return write_partial(machines, options, wrapped=wrapped is not None)

    return answer(find, options)


def _everywhere(pid: int | None, job: str | None) -> str:
    """The name of a job by which other hosts find its processes; empty if none is asked about. Raises UsageError."""
    from ncdiag.apps.watching import jobs

    name = jobs.of_process(pid)[0] if pid is not None else job or ""
    if pid is not None and "=" not in name:
        msg = f"the environment of process {pid} does not name its job, by which other hosts would find its processes"
        raise UsageError(msg)
    return f"SLURM_JOB_ID={name}" if name.isdigit() else name


def _examined(machine: Machine, pid: int | None, job: str | None, stacks: Mode) -> Machine:
    """The machine with what the processes of a running job do; what could not be read is said."""
    from ncdiag.apps.watching import jobs
    from ncdiag.commands._output import say

    found = jobs.of_process(pid) if pid is not None else jobs.of_name(job or jobs.AUTO)
    seen, taken = jobs.examined(machine, *found, stacks)
    for note in taken.notes:
        say(note)
    return seen
