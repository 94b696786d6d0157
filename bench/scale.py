"""A job of very many ranks: how long it takes to merge what they printed, to judge it and to report it.

The log is generated (`tests/generate/large.py`), read, and then each later stage is timed by itself. Run it alone with
``python bench/scale.py --ranks 100000``.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine.causes import conclude
from ncdiag.engine.evaluate import judge
from ncdiag.fixes.values import Values
from ncdiag.reading.job import job_of
from ncdiag.reading.one import read_source
from ncdiag.report import build, renderer
from ncdiag.sources.model import Text

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from generate import large

GPUS = 8

T = TypeVar("T")


class Generated(Text):
    """A text whose log is written while it is read, so that it never lies in memory."""

    name = "job.log"

    def __init__(self, lines: Iterator[str]) -> None:
        """``lines`` without their line ends."""
        self.notes: list[str] = []
        self.size = 0
        self._lines = lines

    def buffers(self) -> Iterator[bytes]:
        """The log in pieces of about a megabyte."""
        held: list[str] = []
        size = 0
        for line in self._lines:
            held.append(line[: 64 << 10])
            size += len(line)
            if size > 1 << 20:
                yield self._piece(held)
                held, size = [], 0
        yield self._piece(held)

    def _piece(self, held: list[str]) -> bytes:
        piece = "".join(line + "\n" for line in held).encode()
        self.size += len(piece)
        return piece


def run(ranks: int) -> str:
    """Print the time of each stage; the report of the job, as a person sees it."""
    job = large.large("2.27.7", "roce", ranks // GPUS, GPUS, faults=large.FAULTS)
    source = Generated(large.lines(job))
    print(f"{'a job of ' + str(ranks) + ' ranks, ' + str(len(large.FAULTS)) + ' faults planted':60}{'s':>10}")
    reading = _timed("generated and read", lambda: read_source(source))
    print(f"{'  observations':60}{len(reading.observations):>10}")
    begin = perf_counter()
    facts = _timed("merged, settings resolved", lambda: job_of([reading]))
    view = view_of(facts)
    values, rules = Values(view), catalogue.rules(())
    verdicts = _timed("judged", lambda: judge(rules, view, values))
    diagnosis = _timed("ordered by cause", lambda: conclude(verdicts, view, understood=True))
    read = build.Read((), frozenset({"nccl_log"}))
    report = _timed("fixes computed and proved", lambda: build.report(diagnosis, (), view, values, read))
    text = _timed("written", lambda: renderer("text")(report, width=100, colour=False))
    print(f"{'merged, judged and reported':60}{perf_counter() - begin:>10.1f}")
    print(f"{'  lines of the report':60}{text.count(chr(10)):>10}")
    print(f"{'  peak memory, MiB':60}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:>10}")
    return text


def _timed(what: str, work: Callable[[], T]) -> T:
    begin = perf_counter()
    result = work()
    print(f"{what:60}{perf_counter() - begin:>10.1f}", flush=True)
    return result


def main() -> None:
    """Print the table, and the report when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ranks", type=int, default=100_000, help="ranks of the job")
    options.add_argument("--report", action="store_true", help="print the report as well")
    given = options.parse_args()
    text = run(given.ranks)
    if given.report:
        print(text)


if __name__ == "__main__":
    main()
