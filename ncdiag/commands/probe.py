"""``ncdiag probe --nodes SET``: which connections between hosts work, tried by an agent on each of them.

With ``--launch``: what a launch needs of its hosts.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex
from ncdiag.commands._options import Options, application, shared
from ncdiag.commands._sweep import Carrier, CarrierOptions, Via, Yes, beginning

if TYPE_CHECKING:
    from ncdiag.text import Case, Item

app = application()
_LAST_PORT = 65535
_RANGE = lazy_regex(r"(\d{1,5})-(\d{1,5})")
_PLACE = lazy_regex(r"\[?([A-Za-z0-9_][\w.:-]{0,252}?)\]?:(\d{1,5})")


@app.command(
    help="Test the TCP connections between pairs of hosts. --bandwidth also measures the RDMA bandwidth; --launch "
    "also checks what a launch needs on its hosts. A temporary agent on each host listens on a few ports during "
    "the test and leaves no files. Takes at most --seconds plus the time to start the "
    "agents; --bandwidth adds to that."
)
@shared
def probe(
    *,
    nodes: Annotated[
        str | None,
        typer.Option(metavar="SET", help="Hosts to test: node[001-512], @group, a host file, or pod labels."),
    ] = None,
    launch: Annotated[
        str | None,
        typer.Option(
            metavar="LAUNCH",
            help="Test the hosts of this launch: a command line (mpirun, torchrun, srun ...), a script with "
            "one, or a hostfile.",
        ),
    ] = None,
    via: Carrier = Via.auto,
    ssh_options: CarrierOptions = "",
    yes: Yes = False,
    seconds: Annotated[
        float, typer.Option(metavar="N", min=1, max=3600, help="Time limit of the connection tests, in seconds.")
    ] = 60,
    start: Annotated[
        float, typer.Option(metavar="N", min=1, max=600, help="Time limit for the agents to start, in seconds.")
    ] = 30,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of peers that each host tries.")] = 64,
    ports: Annotated[
        str | None, typer.Option(metavar="A-B", help="Port range for the agents (default: chosen by the kernel).")
    ] = None,
    port: Annotated[
        list[int] | None, typer.Option(metavar="N", min=1, max=_LAST_PORT, help="Also test this TCP port (repeatable).")
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Rendezvous address of the job (default: $MASTER_ADDR:$MASTER_PORT)."),
    ] = None,
    bandwidth: Annotated[
        bool,
        typer.Option(
            "--bandwidth",
            help="Measure RDMA bandwidth with ib_write_bw; each port has one partner at a time. Uses the full "
            "bandwidth of the ports.",
        ),
    ] = False,
    bandwidth_seconds: Annotated[
        float,
        typer.Option(
            metavar="N",
            min=10,
            max=3600,
            help="Time limit of --bandwidth, in seconds; it runs before the connection tests.",
        ),
    ] = 120,
    nccl_tests: Annotated[
        str, typer.Option(metavar="PROGRAM", help="Path of all_reduce_perf on the hosts; --bandwidth also runs it.")
    ] = "all_reduce_perf",
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the matrix of hosts as an SVG image.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the test results to FILE; 'ncdiag triage' reads them."),
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Write the collected facts instead of a report.")] = False,
    options: Options,
) -> int:
    """Try, draw and judge."""
    import msgspec

    from ncdiag.apps.cluster import Trial, Wish
    from ncdiag.apps.cluster import probe as tried
    from ncdiag.commands._judge import answer
    from ncdiag.commands._output import say, write
    from ncdiag.commands._partial import write_partial
    from ncdiag.facts.fold import fold_hosts
    from ncdiag.language import speak
    from ncdiag.report import renderer
    from ncdiag.report.sanitize import clean
    from ncdiag.text import TextSource, read_all

    speak(options.language)
    renderer(options.answers_in)  # an unknown format is rejected before any host is contacted
    trial = Trial(
        seconds=seconds,
        wait=start,
        rounds=rounds,
        ports=tuple(port or ()),
        within=_range(ports),
        places=_places(master),
        bandwidth=bandwidth_seconds if bandwidth else 0.0,
        nccl_tests=nccl_tests,
    )
    wish, means = Wish(options=ssh_options, begin=beginning(yes=yes)), None if via is Via.auto else via.value
    read: tuple[Item, ...] = ()
    if launch is not None:
        from ncdiag.apps.cluster import launching

        asked = launching.asked(launch, nodes)
        if master is None and (place := asked.plan.place) is not None:
            trial = msgspec.structs.replace(trial, places=(place,))
        found, read = launching.tried(asked, means, trial, wish), asked.readings
    elif nodes is not None:
        found = tried(nodes, means, trial, wish)
    else:
        msg = "no hosts were given: use --nodes, or --launch with the command that starts the job"
        raise UsageError(msg)
    if not options.quiet:
        say(found.text.partition("\n")[0])
        for what in asked.plan.unread if launch is not None else ():
            say(f"not read from the launch: {what}")
        if found.unfinished:
            say(f"{fold_hosts(found.unfinished)} did not test all other hosts in time (raise --seconds)")
    if save is not None:
        before = f"{asked.text}\n" if launch is not None else ""
        write(clean(before + found.whole), save, encoding="utf-8")  # its lines are untrusted
    source = TextSource.of_bytes("probe", found.text.encode())
    case = read_all([*read, source, *found.silent])
    items: list[Item] = [*case.texts, *case.looks]
    if partial:
        return write_partial(lambda: items, options)
    _draw(case, svg, options)

    from ncdiag.diagnose import diagnosed

    judging = msgspec.structs.replace(options.judging(), launch=launch is not None)
    return answer(lambda _: diagnosed(items, judging), options)


def _draw(case: Case, svg: Path | None, options: Options) -> None:
    """Print the matrices before the answer, and write them as a picture if requested."""
    if svg is None and (options.answers_in != "text" or options.output is not None or options.brief):
        return
    from ncdiag.commands._judge import wants_colour
    from ncdiag.commands._output import write
    from ncdiag.report.probing import plan
    from ncdiag.report.probing import svg as picture
    from ncdiag.report.probing import text as matrix

    found = plan.matrices(case.job())
    if svg is not None:
        write(picture.render(found), svg, encoding="utf-8")
    if options.answers_in == "text" and options.output is None and not options.brief and found:
        width = shutil.get_terminal_size().columns
        write(matrix.render(found, width=width, colour=wants_colour(options)) + "\n", None)


def _range(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = _RANGE.fullmatch(text)
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last <= _LAST_PORT:
        msg = f"--ports {text} is not a port range (example: 50000-51000)"
        raise UsageError(msg)
    return first, last


def _places(master: str | None) -> tuple[tuple[str, int], ...]:
    """The rendezvous address: as given, else from the variables of torchrun."""
    address, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    text = master or (f"{address}:{port}" if address and port else None)
    found = _PLACE.fullmatch(text) if text else None
    if found is None or not 1 <= int(found[2]) <= _LAST_PORT:
        if master is None:
            return ()
        msg = f"--master {master} is not HOST:PORT (example: node01:29500)"
        raise UsageError(msg)
    return ((found[1], int(found[2])),)
