"""What ``ncdiag run`` costs: processor time of the watcher and of the copying, beside a job that prints at some rate.

    python bench/watching.py [--seconds 10] [--rates 1 10 100]

The job prints lines of a training at a steady rate into a pipe, once alone and once watched. Times are those that the
kernel counts for the processes (getrusage(2), /proc/PID/stat), so they hold on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

JOB = """
import os, sys, time
rate, seconds = float(sys.argv[1]), float(sys.argv[2])
begin, printed, step = time.monotonic(), 0, 0
while time.monotonic() - begin < seconds:
    due = int(rate * (1 << 20) * (time.monotonic() - begin)) - printed
    if due < 1 << 12:
        time.sleep(0.005)
        continue
    lines = b"".join(b"step %d | loss 2.%04d | lr 0.00030 | 412.7 samples/s\\n" % (n, n % 9973)
        for n in range(step, step + due // 52))
    step += due // 52
    printed += len(lines)
    sys.stdout.buffer.write(lines)
    sys.stdout.flush()
print(printed, file=sys.stderr)
"""


def main() -> None:
    """Print a line for each rate; what a job costs that prints nothing is the start and the diagnosis at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rates", type=float, nargs="+", default=[1, 10, 100], help="MB/s")
    given = parser.parse_args()
    _, fixed = watched(0, given.seconds)
    print(f"start and diagnosis: {fixed:.2f} s of processor time")
    print("asked MB/s   alone  watched   processor time of the watcher and the copying, beyond that")
    for rate in given.rates:
        alone, _ = measured([], rate, given.seconds)
        printed, spent = watched(rate, given.seconds)
        share = 100 * (spent - fixed) / given.seconds
        print(f"{rate:>10g} {alone:>7.1f} {printed:>8.1f} {share:>8.1f}% of one processor", flush=True)


def watched(rate: float, seconds: float) -> tuple[float, float]:
    """As `measured`, by ncdiag."""
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "ncdiag", "run", "--quiet", "-o", str(Path(folder) / "report"), "--"]
        return measured(run, rate, seconds)


def measured(before: list[str], rate: float, seconds: float) -> tuple[float, float]:
    """What the job printed, in MB/s, and the processor time of all processes but the job."""
    job = [sys.executable, "-c", f"{JOB}\nprint(sum(os.times()[:2]), file=sys.stderr)", str(rate), str(seconds)]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([*before, *job], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    while os.read(process.stdout.fileno(), 1 << 20):
        pass
    printed, own = (float(line) for line in process.stderr.read().split()[:2])
    process.wait()
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime - own
    return printed / (1 << 20) / seconds, max(spent, 0.0)


if __name__ == "__main__":
    main()
