"""``make bench``: what the program costs, each figure beside a reference taken in the same run.

Read the ratios; the seconds belong to the machine. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
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
LOOP = "import sys\nfor line in open(sys.argv[1], 'rb'): pass"


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Seconds of the whole process and the peak memory in MiB of its largest process."""
    begin = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return perf_counter() - begin, usage.ru_maxrss / 1024


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


def large(log: Path, share: float) -> None:
    """A long log: throughput and memory beside the plainest readers there are."""
    size = log.stat().st_size
    commands = {
        "python: for line in open(...) (reference)": [sys.executable, "-c", LOOP, str(log)],
        "grep -c 'NCCL WARN'": ["grep", "-c", "NCCL WARN", str(log)],
        "ncdiag parse": [*NCDIAG, "parse", str(log)],
    }
    timed(["cat", str(log)])  # into the page cache
    results = {label: timed(command) for label, command in commands.items()}
    reference = next(iter(results.values()))[0]
    row(f"a log of {size / 1e6:.0f} MB, {share:.0%} Channel lines", "s", "MB/s", "ratio", "peak MiB")
    for label, (seconds, peak) in results.items():
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
    options.add_argument("--share", type=float, default=0.8, help="share of Channel lines in it")
    options.add_argument("--rounds", type=int, default=11, help="runs of each short command")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, head = Path(folder) / "long.log", Path(folder) / "short.log"
        generator().write_info_log(log, given.megabytes, given.share)
        with log.open("rb") as source:
            head.write_bytes(b"".join(line for line, _ in zip(source, range(200), strict=False)))
        start_up(given.rounds)
        print()
        small(head, given.rounds)
        print()
        large(log, given.share)


if __name__ == "__main__":
    main()
