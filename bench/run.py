"""``make bench``: what the program costs, each figure beside a reference taken in the same run.

Read the ratios; the seconds belong to the machine. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
GENERATOR = PROJECT / "tests" / "generate" / "healthy.py"
NCDIAG = [str(Path(sys.executable).parent / "ncdiag")]
IMPORTS = [sys.executable, "-c", "import typer, rich.console, rich.table"]
LOGS: dict[str, dict[str, float]] = {
    "80% Channel lines": {"channel_share": 0.8},
    "80% Channel lines of 2048 ranks": {"channel_share": 0.8, "nodes": 256},
    "5% Channel lines": {"channel_share": 0.05},
    "80% COLL lines": {"channel_share": 0.0, "call_share": 0.8},
}
"""What fills the long logs. With many ranks few lines occur twice."""
LOOP = "import sys\nfor line in open(sys.argv[1], 'rb'): pass"


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Seconds of the whole process and the peak memory in MiB of the largest process it was made of."""
    with tempfile.TemporaryFile() as out:  # grep stops at the first hit when it writes to /dev/null
        begin = perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return seconds, usage.ru_maxrss / 1024


def side_by_side(commands: Sequence[Sequence[str]], rounds: int) -> list[float]:
    """Median seconds of each command, run in turns so that a busy moment hits all of them."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for seconds, command in zip(times, commands, strict=True):
            seconds.append(timed(command)[0])
    return [statistics.median(seconds) for seconds in times]


def row(label: str, *columns: str) -> None:
    """One line of the table."""
    print(f"{label:44}" + "".join(f"{column:>14}" for column in columns))


def start_up(rounds: int) -> None:
    """What a command costs before it does anything."""
    imports, version, nothing = side_by_side([IMPORTS, [*NCDIAG, "--version"], [sys.executable, "-c", "pass"]], rounds)
    row("start-up", "ms", "ratio")
    row("python -c 'import typer, rich...' (reference)", f"{imports * 1e3:.0f}", "1.00")
    row("ncdiag --version", f"{version * 1e3:.0f}", f"{version / imports:.2f}")
    row("python -c pass", f"{nothing * 1e3:.0f}", f"{nothing / imports:.2f}")


def small(log: Path, rounds: int) -> None:
    """A short log, as a person diagnoses it."""
    text, machine, imports = side_by_side(
        [[*NCDIAG, "parse", str(log)], [*NCDIAG, "parse", str(log), "--format", "json"], IMPORTS], rounds
    )
    lines = len(log.read_bytes().splitlines())
    row(f"a log of {lines} lines, whole process", "ms", "ratio")
    row("python -c 'import typer, rich...' (reference)", f"{imports * 1e3:.0f}", "1.00")
    row("ncdiag parse", f"{text * 1e3:.0f}", f"{text / imports:.2f}")
    row("ncdiag parse --format json", f"{machine * 1e3:.0f}", f"{machine / imports:.2f}")


def large(log: Path, what: str, rounds: int) -> None:
    """A long log: throughput and memory beside the plainest readers there are; the median of ``rounds``."""
    size = log.stat().st_size
    commands = {
        "python: for line in open(...) (reference)": [sys.executable, "-c", LOOP, str(log)],
        "ncdiag parse": [*NCDIAG, "parse", str(log)],
    }
    if shutil.which("rg"):
        commands["rg -c 'NCCL INFO'"] = ["rg", "-c", "NCCL INFO", str(log)]
    commands["grep -c 'NCCL INFO'"] = ["grep", "-c", "NCCL INFO", str(log)]
    if shutil.which("taskset"):
        core = str(min(os.sched_getaffinity(0)))
        commands["ncdiag parse, held to one processor"] = ["taskset", "-c", core, *NCDIAG, "parse", str(log)]
    timed(["cat", str(log)])  # into the page cache
    results: dict[str, list[tuple[float, float]]] = {label: [] for label in commands}
    for _ in range(rounds):
        for label, command in commands.items():
            results[label].append(timed(command))
    reference = statistics.median(seconds for seconds, _ in next(iter(results.values())))
    row(f"{size / 1e6:.0f} MB, {what}", "s", "MB/s", "ratio", "peak MiB")
    for label, taken in results.items():
        seconds, peak = statistics.median(s for s, _ in taken), max(p for _, p in taken)
        row(label, f"{seconds:.2f}", f"{size / 1e6 / seconds:.0f}", f"{seconds / reference:.2f}", f"{peak:.0f}")


def generator() -> Any:  # noqa: ANN401  (a module of the tests)
    """The module that writes healthy logs of any size."""
    spec = importlib.util.spec_from_file_location("healthy", GENERATOR)
    if spec is None or spec.loader is None:
        sys.exit(f"{GENERATOR} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, default=100, help="size of the long log")
    options.add_argument("--rounds", type=int, default=11, help="runs of each short command")
    options.add_argument("--long-rounds", type=int, default=5, help="runs of each command on the long log")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, head = Path(folder) / "long.log", Path(folder) / "short.log"
        generator().write_info_log(log, given.megabytes, channel_share=0.8)
        with log.open("rb") as source:
            head.write_bytes(b"".join(line for line, _ in zip(source, range(200), strict=False)))
        start_up(given.rounds)
        print()
        small(head, given.rounds)
        for what, shares in LOGS.items():
            print()
            generator().write_info_log(log, given.megabytes, **shares)
            large(log, what, given.long_rounds)


if __name__ == "__main__":
    main()
