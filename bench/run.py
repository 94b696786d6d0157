"""``make bench``: what the program costs, each figure beside a reference taken in the same run.

Read the ratios; the seconds belong to the machine. Nothing here passes or fails. ``python bench/run.py --only long``
prints one of the tables.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from measure import cpu_seconds, peak, side_by_side

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))
from generate.healthy import write_info_log  # noqa: E402  (the tests' folder is no package)
from generate.kinds import KINDS, text  # noqa: E402
from generate.output import write as write_output  # noqa: E402
from generate.paste import paste  # noqa: E402
from generate.stamped import write as write_stamped  # noqa: E402

NCDIAG = [str(Path(sys.executable).parent / "ncdiag")]
IMPORTS = [sys.executable, "-c", "import typer, rich.console, rich.table"]
LOGS: dict[str, dict[str, Any]] = {
    "80% Channel lines": {"channel_share": 0.8},
    "80% Channel lines of 2048 ranks": {"channel_share": 0.8, "nodes": 256},
    "5% Channel lines": {"channel_share": 0.05},
    "80% COLL lines": {"channel_share": 0.0, "call_share": 0.8},
}
"""What fills the long logs. With many ranks few lines occur twice."""
OUTPUTS = {"output": "a job's output, 1% NCCL lines", "hashes": "lines that all differ", "prose": "prose"}
"""What else fills them: lines of programs. Those that all differ are slow, so that there are fewer of them."""
OUTPUT_SHARES = {"output": 4, "hashes": 80, "prose": 400}
LOOP = "import sys\nfor line in open(sys.argv[1], 'rb'): pass"
LONGER = 40
"""How much longer the second of two logs of one job is."""
KIND_SIZES = 0.2, 0.8
"""Megabytes of the texts of each kind."""
PASTED = 1000
"""Lines of a paste."""
WINDOW = 300
"""Seconds of a window of time."""
PEER = "xcl-lens"
"""Another program that reads logs of NCCL, from the package index; it is slow, so its log is shorter."""
PEER_SHARE = 4


def row(label: str, *columns: str) -> None:
    """One line of a table."""
    print(f"{label:44}" + "".join(f"{column:>14}" for column in columns), flush=True)


def rate(size: float, seconds: float) -> str:
    """Megabytes a second."""
    return f"{size / 1e6 / seconds:.0f}"


class Bench:
    """The tables, for logs in one folder."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        """``given`` are the options of the command line."""
        self.log, self.paste, self.given = folder / "job.log", folder / "paste.txt", given

    def start(self) -> None:
        """What a command costs before it does anything."""
        commands = [IMPORTS, [*NCDIAG, "--version"], [sys.executable, "-c", "pass"]]
        imports, version, nothing = side_by_side(commands, self.given.rounds)
        row("start-up", "ms", "ratio")
        row("python -c 'import typer, rich...' (reference)", f"{imports * 1e3:.0f}", "1.00")
        row("ncdiag --version", f"{version * 1e3:.0f}", f"{version / imports:.2f}")
        row("python -c pass", f"{nothing * 1e3:.0f}", f"{nothing / imports:.2f}")

    def short(self) -> None:
        """A short log and a paste, as a person has them diagnosed, and this machine."""
        write_info_log(self.log, 1, channel_share=0.8)
        lines = self.log.read_bytes().splitlines(keepends=True)[:200]
        self.log.write_bytes(b"".join(lines))
        self.paste.write_text(paste(PASTED), encoding="ascii")
        commands = {
            "python -c 'import typer, rich...' (reference)": IMPORTS,
            f"ncdiag parse, {len(lines)} lines": [*NCDIAG, "parse", str(self.log)],
            f"ncdiag parse --format json, {len(lines)} lines": [*NCDIAG, "parse", str(self.log), "--format", "json"],
            f"ncdiag triage, {PASTED} lines of logs and outputs": [*NCDIAG, "triage", str(self.paste)],
            "ncdiag check --no-nccl, this machine": [*NCDIAG, "check", "--no-nccl"],
        }
        taken = side_by_side(list(commands.values()), self.given.rounds)
        row("whole processes", "ms", "ratio")
        for label, seconds in zip(commands, taken, strict=True):
            row(label, f"{seconds * 1e3:.0f}", f"{seconds / taken[0]:.2f}")

    def long(self) -> None:
        """Long logs: throughput and memory beside the plainest readers there are."""
        for number, (what, shares) in enumerate(LOGS.items()):
            if number:
                print()
            write_info_log(self.log, self.given.megabytes, **shares)
            self._long(what)

    def output(self) -> None:
        """Long outputs of jobs, most of whose lines are the program's own, and real ones where they are at hand."""
        for kind, what in OUTPUTS.items():
            write_output(self.log, kind, self.given.megabytes / OUTPUT_SHARES[kind])
            self._long(what)
            print()
        if self.given.real is None:
            print("no real outputs were read (--real FOLDER names a folder of them)")
            return
        with self.log.open("wb") as joined:
            for path in sorted(path for path in self.given.real.rglob("*") if path.is_file()):
                joined.write(path.read_bytes())
        self._long("real outputs of jobs, joined")

    def _long(self, what: str) -> None:
        log = str(self.log)
        commands = {
            "python: for line in open(...) (reference)": [sys.executable, "-c", LOOP, log],
            "ncdiag parse": [*NCDIAG, "parse", log],
            "grep -c 'NCCL INFO'": ["grep", "-c", "NCCL INFO", log],
        }
        if shutil.which("rg"):
            commands["rg -c 'NCCL INFO'"] = ["rg", "-c", "NCCL INFO", log]
        if shutil.which("taskset"):
            core = str(min(os.sched_getaffinity(0)))
            commands["ncdiag parse, held to one processor"] = ["taskset", "-c", core, *NCDIAG, "parse", log]
        peaks = [peak(command) for command in commands.values()]  # also brings the log into the page cache
        taken = side_by_side(list(commands.values()), self.given.long_rounds)
        size = self.log.stat().st_size
        row(f"{size / 1e6:.0f} MB, {what}", "s", "MB/s", "ratio", "peak MiB")
        for label, seconds, memory in zip(commands, taken, peaks, strict=True):
            row(label, f"{seconds:.2f}", rate(size, seconds), f"{seconds / taken[0]:.2f}", f"{memory:.0f}")

    def kinds(self) -> None:
        """CPU seconds a megabyte of `triage` for kinds of text without a job, less those of a text of one line."""
        self.log.write_text("hello\n", encoding="ascii")
        nothing = min(cpu_seconds([*NCDIAG, "triage", str(self.log)]) for _ in range(self.given.long_rounds))
        row("CPU s a MB", *(f"{size} MB" for size in KIND_SIZES), "slope", "failing words", "grep")
        found = []
        for kind in KINDS:
            taken = []
            for size in KIND_SIZES:
                written = text(kind, int(size * 1e6 / len(text(kind, 100)) * 100))
                self.log.write_text(written, encoding="utf-8")
                taken.append((len(written) / 1e6, cpu_seconds([*NCDIAG, "triage", str(self.log)]) - nothing))
            grep = cpu_seconds(["grep", "-c", "NCCL INFO", str(self.log)])
            written = text(kind, int(KIND_SIZES[0] * 1e6 / len(text(kind, 100)) * 100), failing=True)
            self.log.write_text(written, encoding="utf-8")
            worst = (cpu_seconds([*NCDIAG, "triage", str(self.log)]) - nothing) / len(written) * 1e6
            (small, least), (large, most) = taken
            costs = (least / small, most / large, (most - least) / (large - small), worst)
            found.append(costs)
            row(kind, *(f"{cost:.2f}" for cost in costs), f"{grep / large:.3f}")
        for what, of in (("median", statistics.median), ("largest", max)):
            row(what, *(f"{of(costs):.2f}" for costs in zip(*found, strict=True)))

    def redact(self) -> None:
        """A job's output cleaned to be shared."""
        write_output(self.log, "output", self.given.megabytes / OUTPUT_SHARES["output"])
        commands = [[sys.executable, "-c", LOOP, str(self.log)], [*NCDIAG, "redact", "-q", str(self.log)]]
        peaks = [peak(command) for command in commands]
        taken = side_by_side(commands, self.given.long_rounds)
        size = self.log.stat().st_size
        row(f"{size / 1e6:.0f} MB, {OUTPUTS['output']}", "s", "MB/s", "ratio", "peak MiB")
        for label, seconds, memory in zip(
            ("python: for line in open(...) (reference)", "ncdiag redact"), taken, peaks, strict=True
        ):
            row(label, f"{seconds:.2f}", rate(size, seconds), f"{seconds / taken[0]:.2f}", f"{memory:.0f}")

    def memory(self) -> None:
        """Two logs of one job, one of them much longer: does the memory grow?"""
        sizes = self.given.megabytes / LONGER, self.given.megabytes
        row("peak MiB of all processes together", *(f"{size:.0f} MB" for size in sizes), "ratio")
        for what, shares in LOGS.items():
            found = []
            for size in sizes:
                write_info_log(self.log, size, **shares)
                found.append(peak([*NCDIAG, "parse", str(self.log)]))
            row(f"ncdiag parse, {what}", *(f"{memory:.0f}" for memory in found), f"{found[1] / found[0]:.2f}")

    def large(self) -> None:
        """A job's output of many gigabytes, which nobody wants to read twice: memory and time of one run."""
        write_output(self.log, "output", self.given.gigabytes * 1e3)
        size = self.log.stat().st_size
        started = time.perf_counter()
        memory = peak([*NCDIAG, "parse", str(self.log)])
        seconds = time.perf_counter() - started
        row(f"{size / 1e9:.1f} GB, {OUTPUTS['output']}", "s", "MB/s", "peak MiB")
        row("ncdiag parse", f"{seconds:.0f}", rate(size, seconds), f"{memory:.0f}")

    def window(self) -> None:
        """Some minutes of a log of gigabytes, and the same minutes as a log without the rest."""
        log = write_stamped(self.log, self.given.gigabytes * 1e9)
        began = log.seconds // 2
        since, until = (f"{log.begin + timedelta(seconds=at):%Y-%m-%d %H:%M:%S}" for at in (began, began + WINDOW - 1))
        self.paste.write_bytes(b"".join(log.second(at) for at in range(began, began + WINDOW)))
        commands = {
            f"ncdiag parse, {WINDOW} s as a log without the rest (reference)": [*NCDIAG, "parse", str(self.paste)],
            f"ncdiag parse --since --until, {WINDOW} s": [
                *NCDIAG, "parse", str(self.log), "--since", since, "--until", until,
            ],
        }  # fmt: skip
        taken = side_by_side(list(commands.values()), self.given.long_rounds)
        row(f"{self.log.stat().st_size / 1e9:.1f} GB of {log.seconds} s", "s", "ratio")
        for label, seconds in zip(commands, taken, strict=True):
            row(label, f"{seconds:.2f}", f"{seconds / taken[0]:.2f}")

    def peer(self) -> None:
        """Another program on the same log."""
        if self.given.peers is None:
            print(f"{PEER} was not run beside (make bench PEERS=1 installs it into a folder of its own)")
            return
        program = self.given.peers / "bin" / PEER
        if not program.exists():
            venv.create(self.given.peers, with_pip=True)
            install = [str(program.parent / "python"), "-m", "pip", "install", "--quiet", PEER]
            if subprocess.run(install, check=False).returncode:
                print(f"{PEER} was not run beside: it could not be installed")
                return
        share = self.given.megabytes / PEER_SHARE
        write_info_log(self.log, share, **LOGS["80% Channel lines"])
        self._beside(program, "80% Channel lines")
        print()
        write_output(self.log, "output", share)
        self._beside(program, OUTPUTS["output"])

    def _beside(self, program: Path, what: str) -> None:
        size = self.log.stat().st_size
        own, other = side_by_side([[*NCDIAG, "parse", str(self.log)], [str(program), "-s", str(self.log)]], 1)
        row(f"{size / 1e6:.0f} MB, {what}", "s", "MB/s", "ratio")
        row(f"{PEER} (reference)", f"{other:.2f}", rate(size, other), "1.00")
        row("ncdiag parse", f"{own:.2f}", rate(size, own), f"{own / other:.3f}")


TABLES: dict[str, Callable[[Bench], None]] = {
    "start": Bench.start, "short": Bench.short, "long": Bench.long, "output": Bench.output, "redact": Bench.redact,
    "kinds": Bench.kinds, "memory": Bench.memory,
    "large": Bench.large, "window": Bench.window, "peer": Bench.peer,
}  # fmt: skip


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, default=800, help="size of the long logs")
    options.add_argument("--gigabytes", type=int, default=2, help="size of the largest output")
    options.add_argument("--rounds", type=int, default=11, help="runs of each short command")
    options.add_argument("--long-rounds", type=int, default=5, help="runs of each command on a long log")
    options.add_argument("--only", choices=TABLES, action="append", help="this table; may be given again")
    options.add_argument("--real", type=Path, help="a folder of outputs of real jobs, read as one log")
    options.add_argument("--peers", type=Path, help=f"folder in which {PEER} is, or is to be, installed")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given)
        for number, name in enumerate(given.only or TABLES):
            if number:
                print()
            TABLES[name](bench)


if __name__ == "__main__":
    main()
