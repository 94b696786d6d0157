# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""List signs that are true in healthy texts, rules and signs of one support thread alone, and cells without a rule.

Usage: python tools/signs.py [--jobs N] [--wild N]     or     make signs

Healthy texts are the healthy inputs of the audits and the outputs of jobs that completed (every ``--wild``-th of them),
next to the project (NCDIAG_SHARED, default ../shared), and the healthy fixtures of the project. A sign that is true in
more than 3% of them is weak, whatever its author assumes; stronger ones are listed, and the script ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ncdiag import catalogue, diagnose
from ncdiag.cells.reading import UNKNOWN
from ncdiag.cells.vocabulary import vocabulary
from ncdiag.engine.causes import conclude
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.schema import Rule, Strength
from ncdiag.machine.inputs import inputs
from ncdiag.messages.explained import full_matcher
from ncdiag.suspects.cells import lit_in
from ncdiag.suspects.weigh import Judged

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("NCDIAG_SHARED") or PROJECT.parent / "shared")
MOST = 0.03
"""The maximum share of healthy texts in which a sign that is stronger than weak may be true."""
_SHOWN = 40
Seen = tuple[str, list[tuple[str, Strength, str]], list[str], list[str]]
"""A text, its true signs (rule, strength, text), its findings above notes, and the suspects shown."""


def look(path: str) -> Seen:
    """The signs and findings in one text."""
    return seen(path, diagnose.diagnosed(inputs([path])))


def known(path: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The findings above notes in one text, and the signs (rule, text) that its words show, without those of facts."""
    found = diagnose.diagnosed(inputs([path]))
    return set(above_notes(found)), {(rule.name, judged.sign.text) for rule, judged in _true(found) if judged.sign.says}


def printed() -> dict[tuple[str, str], str]:
    """The event that the example of a sign (rule, text) reports; without signs whose example is not a known message.

    Each message of the catalogue names the source that prints it.
    """
    examples = [(rule.name, sign) for rule in catalogue.rules_with_examples() for sign in rule.signs]
    found = {
        (name, sign.text): match.event
        for name, sign in examples
        for line in sign.example.splitlines()
        if (match := full_matcher().find(line))
    }
    return dict(sorted(found.items()))


def fired(path: str) -> list[str]:
    """The findings above notes in one text."""
    return above_notes(diagnose.diagnosed(inputs([path])))


def unowned(path: str) -> list[str]:
    """The cells that a failure in one text lights and no rule lists, without whole fields and unknown reasons."""
    found = diagnose.diagnosed(inputs([path]))
    owned = {(thing, reason) for rule in catalogue.rules() for thing, reason, _ in rule.cells}
    objects = vocabulary().objects
    return [
        f"{thing} {reason}"
        for (thing, reason), (_, _, fails) in lit_in(found.view, diagnose.wording(found.case, found.view)).lit.items()
        if fails and reason != UNKNOWN and not objects[thing].field and (thing, reason) not in owned
    ]


def above_notes(found: diagnose.Diagnosed) -> list[str]:
    """The names of the findings above notes."""
    return [each.name for each in found.report.findings if each.severity != "info"]


def _true(found: diagnose.Diagnosed) -> Iterator[tuple[Rule, Judged]]:
    """The signs for a suspect that are true in a diagnosed text, each with its rule."""
    rules = catalogue.rules()
    verdicts = judge_all(rules, found.view)
    scales = diagnose.scales_of(found.case, found.view, conclude(verdicts, found.view).findings, verdicts)
    for rule in rules:
        if rule.suspect:
            own = {sign.text for sign in rule.signs}
            of_rule = (judged for judged in scales.one(rule).signs if judged.sign.text in own)
            yield from ((rule, judged) for judged in of_rule if judged.truth and not judged.sign.against)


def seen(path: str, found: diagnose.Diagnosed) -> Seen:
    """The signs and findings in a diagnosed text."""
    true = [(rule.name, judged.sign.strength, judged.sign.text) for rule, judged in _true(found)]
    return path, true, above_notes(found), [f"{each.name} ({each.likelihood})" for each in found.report.suspects]


def healthy(scratch: Path, every: int) -> Iterator[str]:
    """Paths of texts without faults."""
    yield from (str(path) for path in sorted((PROJECT / "fixtures" / "healthy").iterdir()))
    for audit in ("network", "gpu"):
        index = SHARED / "audit" / audit / "index.json"
        for item in json.loads(index.read_text(encoding="utf-8"))["inputs"]:
            if item["state"] == "healthy":
                yield str(index.parent / item["file"])
    with tarfile.open(SHARED / "wild" / "jobs.tar.xz") as archive:
        archive.extractall(scratch, filter="data")
    (index,) = scratch.rglob("jobs.json")
    ended = json.loads(index.read_text(encoding="utf-8"))["files"]
    completed = [item["file"] for item in ended if "completed" in item["state"]]
    found = {path.name: path for path in scratch.rglob("*") if path.is_file()}
    yield from (str(found[Path(name).name]) for name in completed[::every] if Path(name).name in found)


def main() -> int:
    """Print the lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--wild", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(args.jobs) as pool:
        texts = list(healthy(Path(scratch), args.wild))
        seen = list(pool.map(look, texts, chunksize=2))
        threads = [str(path) for path in sorted((SHARED / "cases").glob("*/*.txt"))]
        others = [str(path) for path in sorted((SHARED / "corpus").rglob("*")) if path.is_file()]
        shown_by = list(pool.map(known, threads, chunksize=4))
        without = Counter(cell for cells in pool.map(unowned, threads, chunksize=4) for cell in cells)
        elsewhere = {name for names in pool.map(fired, others, chunksize=4) for name in names}
    of_threads = Counter(name for names, _ in shown_by for name in names)
    signs = Counter(sign for _, signs in shown_by for sign in signs)
    print(f"{len(seen)} healthy texts")
    print("with a suspect that is likely:")
    for path, _, _, shown in seen:
        if any("likely" in text for text in shown):
            print(f"  {Path(path).name}: {', '.join(shown)}")
    counts = Counter(sign for _, true, _, _ in seen for sign in set(true))
    loud = [(sign, count) for sign, count in counts.most_common() if count > MOST * len(seen) and sign[1] != "weak"]
    print(f"{len(loud)} signs that count for more than weak and are seen in more than {MOST:.0%} of them:")
    for (rule, strength, text), count in loud:
        print(f"  {count / len(seen):4.0%}  {rule}: {text} ({strength})")
    once = sorted(name for name, count in of_threads.items() if count == 1 and name not in elsewhere)
    print(f"{len(once)} rules that fire in one thread and in nothing else: {', '.join(once)}")
    single = {sign for sign, count in signs.items() if count == 1}
    messages = {sign: event for sign, event in printed().items() if sign in single}
    print(f"{len(single - messages.keys())} of {len(signs)} signs that words show are seen in one thread alone:")
    print("  " + ", ".join(f"{rule}: {text}" for rule, text in sorted(single - messages.keys())))
    print(f"{len(messages)} more are seen in one thread alone, but are messages of the catalogue:")
    print("  " + ", ".join(f"{rule}: {text} ({event})" for (rule, text), event in messages.items()))
    print(f"{len(without)} cells that failures in threads light and no rule lists:")
    print("  " + ", ".join(f"{cell} ({count})" for cell, count in without.most_common(_SHOWN)))
    return 1 if loud else 0


if __name__ == "__main__":
    sys.exit(main())
