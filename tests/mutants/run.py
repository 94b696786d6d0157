"""Plants small faults in a tree and runs the tests that execute the changed lines: which faults does nothing see?

In ``tests``, with a work folder W that keeps what was measured, and a git worktree TREE that nobody else uses:

    python -m mutants.run plan --project .. --seed 32 --count 60 W/plan.json   # choose the faults
    nice python -m mutants.run measure --tree TREE --work W                    # one run of the tests of TREE
    nice python -m mutants.run try --tree TREE --work W --plan W/plan.json --only 0-59

``measure`` runs the tests once and notes which of them execute which line, child processes included. ``try`` plants
one fault after the other and runs the tests of its lines, the quickest first, until one fails. Lines that run while a
module is imported belong to no test: there the tests of the module's other lines are run, those of its name first. A
failure counts if the same test passes without the fault. W/results.json has one entry for each fault; what it has is
not tried again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from coverage.numbits import numbits_to_nums
from mutants.faults import Fault, chosen, located

HERE = Path(__file__).resolve().parent
CORE = ["-m", "not shared and not long", "--ignore=tests/wheel"]
SELECTED, BATCH = 600, 60
"""Tests tried for one fault at most, and tests of one run of pytest."""
LIMIT, LONGEST = 120, 1800
"""Seconds of one test and of one run of pytest: what a fault makes hang is caught."""
NOT_FOUND = 4
"""Exit code of pytest for a test that does not exist."""
COVERAGE = """\
[run]
source_pkgs = ncdiag
data_file = {work}/coverage
parallel = true
sigterm = true
context = ${{PYTEST_CURRENT_TEST-}}
"""


def plan(arguments: argparse.Namespace) -> None:
    """Write the faults of a tree."""
    faults = chosen(arguments.project.resolve(), arguments.seed, arguments.count)
    arguments.plan.write_bytes(msgspec.json.format(msgspec.json.encode(faults)))


def measure(arguments: argparse.Namespace) -> None:
    """Run the tests of the tree once; the work folder then holds the lines and the seconds of each."""
    work = arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True) if arguments.anew else None
    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "plugin.py", work / "mutants_plugin.py")
    (work / "coveragerc").write_text(COVERAGE.format(work=work), encoding="utf-8")
    environ = {
        **os.environ, "COVERAGE_PROCESS_START": str(work / "coveragerc"), "NCDIAG_MUTANTS": str(work),
        "PYTHONPATH": str(work),
    }  # fmt: skip
    tests = arguments.tests or CORE
    command = [python(arguments.tree), "-m", "pytest", "-q", "-p", "mutants_plugin", "-p", "no:randomly", "-n"]
    limits = ["--timeout", "900"]
    subprocess.run([*command, str(arguments.workers), *limits, *tests], cwd=arguments.tree, env=environ, check=False)
    subprocess.run(
        [python(arguments.tree), "-m", "coverage", "combine", "-q", f"--rcfile={work / 'coveragerc'}"],
        cwd=arguments.tree, check=True,
    )  # fmt: skip


def try_all(arguments: argparse.Namespace) -> None:
    """Plant the faults in turn and note what came of each."""
    tree, work = arguments.tree.resolve(), arguments.work.resolve()
    results = work / "results.json"
    done: dict[str, Any] = json.loads(results.read_text("utf-8")) if results.exists() else {}
    faults = msgspec.json.decode(arguments.plan.read_bytes(), type=list[Fault])
    for number in numbers(arguments.only, len(faults)):
        if str(number) not in done:
            begin = time.monotonic()
            done[str(number)] = outcome = tried(tree, work, faults[number])
            outcome["seconds"] = round(time.monotonic() - begin)
            results.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
            print(number, outcome["outcome"], outcome.get("place"), outcome.get("by", ""), flush=True)  # noqa: T201
    counts = {word: sum(each["outcome"] == word for each in done.values()) for word in ("caught", "missed", "absent")}
    print(counts)  # noqa: T201


def tried(tree: Path, work: Path, fault: Fault) -> dict[str, Any]:
    """What came of one fault: ``caught`` by a test, ``missed``, or ``absent`` where the tree has no such place."""
    found = located(tree, fault)
    told = msgspec.to_builtins(fault)
    if found is None:
        return {"outcome": "absent", **told}
    path, planted = found
    whole = path.read_text(encoding="utf-8")
    tests = selected(work, path, planted.first, planted.last)
    told |= {"place": f"{path.relative_to(tree)}:{planted.first}", "tests": len(tests)}
    while tests:
        try:
            rewrite(path, planted.text)
            failed = first_failure(tree, tests)
        finally:
            rewrite(path, whole)
        if failed is None:
            break
        if first_failure(tree, failed.tests) is None:
            return {"outcome": "caught", "by": failed.said, **told}
        tests = [test for test in tests if test not in failed.tests]  # they fail without the fault as well
    return {"outcome": "missed", **told}


def rewrite(path: Path, text: str) -> None:
    """Write a module with a new time, so that no compiled copy of it is taken for the new text."""
    before = path.stat().st_mtime
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time.time(), max(before + 2, time.time())))


def selected(work: Path, path: Path, first: int, last: int) -> list[str]:
    """The tests that run a line, the quickest first; of a line that runs at import those that run the module."""
    seconds = durations(work)
    by_line = contexts(work, path)
    mine = {test for line in range(first, last + 1) for test in by_line.get(line, ())}
    any_line = {test for tests in by_line.values() for test in tests}
    names = {path.stem.strip("_"), path.parent.name}

    def order(test: str) -> tuple[bool, float]:
        named = any(name in test.partition("::")[0] for name in names if len(name) > 2)
        return not (named and not mine), seconds.get(test, 0.0)

    return sorted((test for test in (mine or any_line) if test in seconds), key=order)[:SELECTED]


def contexts(work: Path, path: Path) -> dict[int, set[str]]:
    """The tests by the line of a module that they run; only the part of the path from the package on counts."""
    found: dict[int, set[str]] = defaultdict(set)
    tail = path.as_posix().rpartition("/ncdiag/")[2]
    with sqlite3.connect(work / "coverage") as base:
        rows = base.execute(
            "select context.context, line_bits.numbits from line_bits join file on file.id = line_bits.file_id "
            "join context on context.id = line_bits.context_id where file.path like ?",
            (f"%/ncdiag/{tail}",),
        )
        for context, bits in rows:
            for line in numbits_to_nums(bits):
                found[line].add(context.removesuffix(" (call)").removesuffix(" (setup)").removesuffix(" (teardown)"))
    for tests in found.values():
        tests.discard("")
    return found


def durations(work: Path) -> dict[str, float]:
    """The seconds of each test that passed when the tests were measured."""
    found: dict[str, float] = defaultdict(float)
    bad = set()
    for path in work.glob("seconds-*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            test, seconds, outcome = json.loads(line)
            found[test] += seconds
            bad |= set() if outcome == "passed" else {test}
    return {test: seconds for test, seconds in found.items() if test not in bad}


class Failure(NamedTuple):
    """Tests of which one failed: the one that did, or all of a run that broke; ``said`` is what pytest says of it."""

    tests: list[str]
    said: str


def first_failure(tree: Path, tests: list[str]) -> Failure | None:
    """The first test that fails; None if all pass."""
    for start in range(0, len(tests), BATCH):
        batch = tests[start : start + BATCH]
        code, lines = run_tests(tree, batch)
        if code == NOT_FOUND:
            raise SystemExit("\n".join(["the tree has other tests than were measured; measure it anew", *lines]))
        if code:
            said = [line.partition(" ")[2] for line in lines if line.startswith(("FAILED ", "ERROR "))]
            one = max((test for test in batch for text in said if text.startswith(test)), key=len, default="")
            return Failure([one] if one else batch, one or (said or lines or ["nothing"])[-1])
    return None


def run_tests(tree: Path, tests: list[str]) -> tuple[int, list[str]]:
    """Exit code and output of pytest; a run that hangs is a failure."""
    names = tree / ".cache" / "mutants-tests"
    names.parent.mkdir(exist_ok=True)
    names.write_text("\n".join(tests), encoding="utf-8")
    options = ["-x", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    command = [python(tree), "-m", "pytest", *options, "--timeout", str(LIMIT), f"@{names}"]
    env = {**os.environ, "NCDIAG_SWEEP": "full"}  # each commit takes another tenth
    with subprocess.Popen(
        command, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as run:
        try:
            said, _ = run.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return 1, ["the tests hang"]
    return run.returncode, said.decode(errors="replace").splitlines()


def python(tree: Path) -> str:
    """The interpreter of the tree's own environment."""
    return str(tree.resolve() / ".venv" / "bin" / "python")


def numbers(only: str, count: int) -> list[int]:
    """``0-4,9`` as numbers; all of ``count`` for an empty text."""
    found: list[int] = []
    for part in only.split(",") if only else [f"0-{count - 1}"]:
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    made = commands.add_parser("plan")
    made.add_argument("--project", type=Path, default=HERE.parents[1])
    made.add_argument("--seed", type=int, default=32)
    made.add_argument("--count", type=int, default=60)
    made.add_argument("plan", type=Path)
    made.set_defaults(function=plan)
    for name, function in (("measure", measure), ("try", try_all)):
        made = commands.add_parser(name)
        made.add_argument("--tree", type=Path, required=True)
        made.add_argument("--work", type=Path, required=True)
        made.set_defaults(function=function)
        if function is measure:
            made.add_argument("--anew", action="store_true")
            made.add_argument("--workers", type=int, default=2)
            made.add_argument("tests", nargs="*", help=f"arguments of pytest; default: {' '.join(CORE)}")
        else:
            made.add_argument("--plan", type=Path, required=True)
            made.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
