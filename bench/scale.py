"""A job of very many ranks: how long it takes to merge what they printed, to judge it and to report it.

The log is generated (`tests/generate/large.py`); then each stage is timed by itself. Run it alone with
``python bench/scale.py --ranks 100000``.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from measure import timed

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine.causes import conclude
from ncdiag.engine.evaluate import judge
from ncdiag.fixes.values import Values
from ncdiag.machine.inputs import inputs
from ncdiag.report import build, renderer
from ncdiag.text.reading.many import read_all

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from generate import large

GPUS = 8


def write(job: large.Large, path: Path) -> None:
    """The log of all ranks, in one file."""
    with path.open("w", encoding="ascii") as log:
        log.writelines(f"{line}\n" for line in large.lines(job))


def run(ranks: int) -> str:
    """Print the time of each stage; the report of the job, as a person sees it."""
    job = large.large("2.27.7", "roce", ranks // GPUS, GPUS, faults=large.FAULTS)
    print(f"{'a job of ' + str(ranks) + ' ranks, ' + str(len(large.FAULTS)) + ' faults planted':60}{'s':>10}")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "job.log"
        write(job, log)
        print(f"{'  bytes of its log':60}{log.stat().st_size:>10}")
        begin = perf_counter()
        case = timed("read", lambda: read_all(inputs([str(log)])))
    print(f"{'  observations':60}{len(case.readings[0].observations):>10}")
    facts = timed("merged, settings resolved", case.job)
    view = view_of(facts)
    values, rules = Values(view), catalogue.rules(())
    verdicts = timed("judged", lambda: judge(rules, view, values))
    diagnosis = timed("ordered by cause", lambda: conclude(verdicts, view, understood=True))
    read = build.Read((), frozenset({"nccl_log"}))
    report = timed("fixes computed and proved", lambda: build.report(diagnosis, (), view, values, read))
    text = timed("written", lambda: renderer("text")(report, width=100, colour=False))
    print(f"{'read, merged, judged and reported':60}{perf_counter() - begin:>10.1f}")
    print(f"{'  lines of the report':60}{text.count(chr(10)):>10}")
    for what, whose in (("peak memory", resource.RUSAGE_SELF), ("of the largest reader", resource.RUSAGE_CHILDREN)):
        print(f"{f'  {what}, MiB':60}{resource.getrusage(whose).ru_maxrss >> 10:>10}")
    return text


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
