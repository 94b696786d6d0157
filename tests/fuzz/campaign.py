"""Tries hostile inputs on the whole program: none may raise, hang, eat memory, or make a job ill that was well.

The trials are functions of a seed, so that one that fails can be run again. The tests run some of them; as a program
(``make fuzz``) it runs them in turn for some minutes and prints how many inputs were tried:
``python -m fuzz.campaign [--minutes N] [--seed N]`` in ``tests``, one of them again: ``... --only TRIAL --seed N``.
Where atheris is installed, it makes inputs of its own for half that time more, and all property tests of the project
run for half that time with random examples.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import gc
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, process_time, time

from fuzz import inputs, work

from ncdiag import triage
from ncdiag.base.errors import NoTextError
from ncdiag.diagnose import diagnose
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

SECONDS_PER_MB, SECONDS_AT_LEAST = 2.0, 2.0
"""What reading and judging may cost: for each megabyte of (unpacked) input, and in any case."""
MIB_KEPT = 64
"""MiB by which the program may grow from its 300th input to its last."""
GUIDED_LENGTH = 4096
"""Bytes of the inputs that atheris makes."""

HEALTHY: list[bytes] = inputs.healthy_logs()
CAPTURES: list[bytes] = inputs.captures()
PASTED: list[bytes] = inputs.pasted()


class IllError(AssertionError):
    """A job that was well got a finding, or an input cost too much."""


@functools.cache
def _ready() -> None:
    """Load the rules once, outside the time of an input: on a new machine they are compiled first."""
    _rendered(diagnose([TextSource.of_bytes("job.log", b"")]))


def judged(data: bytes) -> Report:
    """The report on a text, rendered in all formats; IllError when that took too long."""
    _ready()
    begin = process_time()
    report = _rendered(diagnose([TextSource.of_bytes("job.log", data)]))
    _check_time(process_time() - begin, len(data))
    return report


def judged_file(data: bytes, folder: Path, unpacked: int) -> Report:
    """The report on a file with that content, which unpacks to so many bytes at most."""
    path = folder / "input"
    path.write_bytes(data)
    _ready()
    begin = process_time()
    report = _rendered(triage(path))
    _check_time(process_time() - begin, unpacked)
    return report


def _rendered(report: Report) -> Report:
    for name in ("text", "json", "markdown"):
        renderer(name)(report, width=80, colour=False)
    return report


def _check_time(seconds: float, size: int) -> None:
    allowed = SECONDS_AT_LEAST + SECONDS_PER_MB * size / 1e6
    if seconds > allowed:
        msg = f"{size} bytes took {seconds:.1f} s, allowed are {allowed:.1f} s"
        raise IllError(msg)


def expect_silence(report: Report) -> None:
    """IllError when there is a finding that would send somebody looking."""
    found = [f"{f.name}: {f.title} {[e.text for e in f.evidence[:3]]}" for f in report.findings if f.severity != "info"]
    if found:
        raise IllError(found)


def harmless(chance: random.Random) -> None:
    """A healthy log that lost, moved or repeated lines: still nothing to complain about."""
    data = chance.choice(HEALTHY)
    for _ in range(chance.choice([1, 1, 2])):
        data = chance.choice(inputs.HARMLESS)(data, chance)
    if chance.random() < 0.1:
        data = inputs.recoded(data, chance)
    expect_silence(judged(data))


def files(chance: random.Random) -> None:
    """The log of each process in a file of its own, some files lost and one cut: still nothing to complain about."""
    kept = [part for part in inputs.by_process(chance.choice(HEALTHY)) if chance.random() > 0.3]
    if kept:
        kept[0] = inputs.tail_lost(kept[0], chance)
    chance.shuffle(kept)
    expect_silence(_rendered(diagnose([TextSource.of_bytes(f"{n}.log", part) for n, part in enumerate(kept)])))


def capture_cut(chance: random.Random) -> None:
    """Output of tools on a machine that is well, cut between any lines: still nothing to complain about."""
    expect_silence(judged(inputs.cut_between_lines(chance.choice(CAPTURES), chance)))


def rough(chance: random.Random) -> None:
    """Bytes changed in any text: whatever is said of it, it is said in time."""
    data = chance.choice(chance.choice([HEALTHY, PASTED, PASTED]))
    for _ in range(chance.choice([1, 1, 2, 3])):
        data = chance.choice(inputs.HARMLESS + inputs.ROUGH)(data, chance)
    judged(data)


def mixed(chance: random.Random) -> None:
    """Several texts at once, line by line."""
    texts = chance.sample(HEALTHY + PASTED, chance.randint(2, 5))
    judged(inputs.interleaved(texts, chance))


def deep(chance: random.Random) -> None:
    """Nesting and lengths that nobody writes, alone or within a paste."""
    text = inputs.nested(chance)
    judged(chance.choice([text, chance.choice(PASTED) + b"\n" + text, text + b"\n" + chance.choice(HEALTHY)]))


def packed(chance: random.Random) -> None:
    """Archives, whole and damaged: one that is damaged may hold no text, which is said in a sentence."""
    logs = chance.sample(HEALTHY, chance.randint(1, 3))
    with tempfile.TemporaryDirectory() as folder, suppress(NoTextError):
        judged_file(inputs.archive(logs, chance), Path(folder), sum(map(len, logs)))


TRIALS: dict[str, Callable[[random.Random], None]] = {
    trial.__name__: trial
    for trial in (harmless, files, capture_cut, rough, mixed, deep, packed, work.reading, work.redacting)
}
SHARES = (
    ("harmless",) * 6
    + ("files",) * 2
    + ("capture_cut",) * 2
    + ("rough",) * 6
    + ("mixed",) * 2
    + ("deep", "packed")
    + ("reading",) * 4
    + ("redacting",) * 2
)
"""Which trial is next, in turn: those whose inputs differ most come most often."""


def run(name: str, seed: int) -> None:
    """One trial; what it raises is told with the line that runs it again."""
    try:
        TRIALS[name](random.Random(seed))
    except Exception as error:
        msg = f"{error!r}\nagain: python -m fuzz.campaign --only {name} --seed {seed}"
        raise IllError(msg) from error


def resident() -> int:
    """MiB of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def campaign(minutes: float, seed: int) -> bool:
    """Try inputs for so many minutes; True when none failed."""
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    end, number, held = monotonic() + 60 * minutes, 0, 0
    while monotonic() < end:
        name = SHARES[number % len(SHARES)]
        faulthandler.dump_traceback_later(120, exit=True)
        try:
            run(name, seed + number)
        except IllError as error:
            failed[name] += 1
            print(f"{name}: {error}\n", file=sys.stderr)
        tried[name] += 1
        number += 1
        if number == 300:
            gc.collect()
            held = resident()
    faulthandler.cancel_dump_traceback_later()
    gc.collect()
    growth = resident() - held if held else 0
    for name in TRIALS:
        print(f"{name:20}{tried[name]:10} inputs{failed[name]:6} failed")
    print(f"{'all':20}{tried.total():10} inputs{failed.total():6} failed; memory grew by {growth} MiB")
    return not failed and growth < MIB_KEPT


def guided(minutes: float) -> bool:
    """Let atheris make inputs for so many minutes (`guided.py`); True when none failed, or it is not installed."""
    if importlib.util.find_spec("atheris") is None:
        print("guided              atheris does not install on this Python: none tried")
        return True
    with tempfile.TemporaryDirectory() as folder:
        seeds, failures = Path(folder, "seeds"), Path(folder, "failures")
        seeds.mkdir()
        failures.mkdir()
        for number, data in enumerate(PASTED + CAPTURES + HEALTHY):
            (seeds / str(number)).write_bytes(data[:GUIDED_LENGTH])
        limits = {
            "max_total_time": round(60 * minutes), "timeout": 60, "report_slow_units": 60, "rss_limit_mb": 2048,
            "max_len": GUIDED_LENGTH, "len_control": 0, "print_final_stats": 1, "artifact_prefix": f"{failures}/",
        }  # fmt: skip
        options = [f"-{name}={value}" for name, value in limits.items()]
        done = subprocess.run(
            [sys.executable, "-m", "fuzz.guided", str(seeds), *options], capture_output=True, text=True, check=False,
            errors="replace",
        )  # fmt: skip
        tried = re.search(r"^stat::number_of_executed_units: *(\d+)", done.stderr, re.MULTILINE)
        found = sorted(failures.iterdir())
        for failure in found:
            print(f"guided: {failure.name}: {failure.read_bytes()!r}\n{done.stdout[-4000:]}", file=sys.stderr)
    print(f"{'guided (atheris)':20}{tried[1] if tried else 0:>10} inputs{len(found):6} failed")
    return tried is not None and not found


def properties(minutes: float, seed: int) -> bool:
    """Run all property tests with random examples, again and again for so many minutes; True when none failed.

    A test that has begun is not cut short.
    """
    end, failed, tried = time() + 60 * minutes, 0, 0
    environ = {**os.environ, "NCDIAG_FUZZ": "random", "NCDIAG_FUZZ_UNTIL": str(end)}
    options = ["-q", "-n", "2", "-m", "hypothesis", "--timeout", "0", "--maxfail", "5"]
    while time() < end and not failed:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, "--hypothesis-seed", str(seed)], cwd=inputs.PROJECT, env=environ,
            capture_output=True, text=True, check=False, errors="replace",
        )  # fmt: skip
        counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout[-300:])}
        tried += counts.get("passed", 0) + counts.get("failed", 0)
        failed += counts.get("failed", 0) + (done.returncode not in {0, 1})
        if done.returncode:
            print(f"properties, seed {seed}:\n{done.stdout}\n{done.stderr}", file=sys.stderr)
        seed += 1
    print(f"{'properties':20}{tried:10} tests {failed:6} failed")
    return not failed


def main() -> None:
    """Command line: see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=5)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options.add_argument("--only", choices=TRIALS)
    given = options.parse_args()
    if given.only:
        run(given.only, given.seed)
        return
    print(f"seed {given.seed}")
    half = given.minutes / 2
    well = [campaign(given.minutes, given.seed), guided(half), properties(half, given.seed)]
    sys.exit(not all(well))


if __name__ == "__main__":
    main()
