# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""Measure how often the answer to a real support thread is right, and how often each word for its certainty is.

Usage: python tools/cases.py [--threads FOLDER ...] [--misses] [--csv FILE --round NAME] [--jobs N]   or   make cases
       python tools/cases.py --table tests/suspects/rounds.csv

A folder of threads has one or more ``index*.json`` and a text for each thread. Without ``--threads``, the threads next
to the project are scored (NCDIAG_SHARED, default ../shared, folders ``cases/*``). The rules were written with these in
view, so that the result is too good: it is marked as fitted. docs/reports.md quotes only threads that were collected
and labelled before anybody saw an answer to them, scored once. ``--csv`` appends such a scoring to a table, and
``--table`` prints how many were right in each round of it.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from ncdiag import catalogue, diagnose
from ncdiag.engine.causes import conclude
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.schema import Rule
from ncdiag.fixes.values import Values
from ncdiag.machine.inputs import inputs
from ncdiag.suspects.choose import decided
from ncdiag.text import read_all

SHARED = Path(os.environ.get("NCDIAG_SHARED") or Path(__file__).resolve().parents[2] / "shared")
WORDS = ("certain cause", "likely cause", "possible cause", "very likely", "likely", "possible", "unlikely")
COLUMNS = ("round", "thread", "healthy", "name", "word", "score", "lead", "place", "right")
MOST = 3
"""Number of answers that people read."""
_Z = 1.645
"""Half the width of a 90% interval, in standard deviations."""


class Shown(NamedTuple):
    """One answer: its names (present and former), its word, the score of its signs, its lead over the next answer.

    ``word`` is empty for symptoms, risks and notes. ``is_loud``: it is an error.
    """

    names: frozenset[str]
    word: str
    score: float
    lead: float
    is_loud: bool


class Answer(NamedTuple):
    """The answers to a thread, first to last, and the names that are right; ``is_silent``: nothing is said at all."""

    thread: str
    wanted: frozenset[str]
    shown: tuple[Shown, ...]
    is_silent: bool

    @property
    def right(self) -> list[bool]:
        """Whether each answer is right."""
        return [bool(self.wanted & each.names) for each in self.shown]

    @property
    def is_healthy(self) -> bool:
        """True for a thread in which nothing is wrong."""
        return "none" in self.wanted

    @property
    def is_calm(self) -> bool:
        """True if nothing is claimed: no cause, no error, and no suspect that is more than possible."""
        return not any(each.is_loud or each.word not in {"", "possible", "unlikely"} for each in self.shown)


def answer(item: tuple[dict[str, Any], Path]) -> Answer:
    """Diagnose one thread."""
    thread, path = item
    case = read_all(inputs([str(path)]))
    view = diagnose.view_of(case.job())
    rules = catalogue.rules()
    verdicts = judge_all(rules, view, Values(view))
    findings = conclude(verdicts, view).findings
    found = decided(rules, findings, diagnose.scales_of(case, view, findings, verdicts), view)
    held = {each.rule.name: each for each in found.findings}
    suspects = {each.rule.name: each for each in found.suspected}
    shown = []
    for name in found.answers:
        finding, suspect = held.get(name), suspects.get(name)
        if finding is not None:
            is_claim = finding.severity != "info" and finding.role == "cause"
            word = f"{finding.confidence} cause" if is_claim else ""
            shown.append(Shown(_names(finding.rule), word, 0.0, 0.0, finding.severity == "error"))
        elif suspect is not None:
            score = suspect.weighed.score
            shown.append(Shown(_names(suspect.rule), suspect.likelihood, score, suspect.lead, is_loud=False))
    loud = any(each.severity != "info" for each in found.findings)
    expected = thread["expected"]
    wanted = frozenset({expected["finding"], *expected.get("also_ok", [])})
    return Answer(thread["id"], wanted, tuple(shown), not (loud or suspects or view.job.complaints))


def _names(rule: Rule) -> frozenset[str]:
    return frozenset({rule.name, *rule.formerly})


def threads(folders: Iterable[Path]) -> Iterator[tuple[dict[str, Any], Path]]:
    """The threads of folders: the entry in the index, and the text."""
    for folder in folders:
        for index in sorted(folder.glob("index*.json")):
            for thread in json.loads(index.read_text(encoding="utf-8"))["cases"]:
                yield thread, folder / thread.get("file", f"{thread['id']}.txt")


def interval(right: int, said: int) -> tuple[float, float]:
    """The 90% interval of a share (Wilson score)."""
    if not said:
        return 0.0, 1.0
    share, spread = right / said, _Z * _Z / said
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / said + spread / (4 * said)) / (1 + spread)
    return middle - half, middle + half


def summary(title: str, answers: Sequence[Answer]) -> str:
    """One line: how many are right first and within three, silent, wrong claims, healthy threads in peace."""
    faulty = [held for held in answers if not held.is_healthy]
    calm = [held.is_calm for held in answers if held.is_healthy]
    count = len(faulty) or 1
    first = sum(held.right[:1] == [True] for held in faulty)
    three = sum(any(held.right[:3]) for held in faulty)
    wrong = sum(
        not right and _is_claim(each) for held in faulty for each, right in zip(held.shown, held.right, strict=True)
    )
    silent = sum(held.is_silent for held in faulty)
    return (
        f"{title}: {len(faulty)} faulty threads: first {first} ({first / count:.0%}), within three {three} "
        f"({three / count:.0%}), silent {silent}, wrong causes {wrong} ({wrong / count:.2f} a thread); "
        f"healthy in peace {sum(calm)} of {len(calm)}"
    )


def _is_claim(each: Shown) -> bool:
    return each.word.endswith("cause") or each.word == "very likely"


def words(rows: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """For each word, how often it was right, with the 90% interval; ``rows``: a word, and whether it was right."""
    said: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for word, is_right in rows:
        said[word] += 1
        right[word] += is_right
    for word in WORDS:
        low, high = interval(right[word], said[word])
        yield f"  {word:15} right {right[word]:3} of {said[word]:3}   90% interval {low:4.0%} to {high:4.0%}"


def judged(answers: Iterable[Answer]) -> Iterator[tuple[str, bool]]:
    """The words of all answers to faulty threads, and whether each answer was right."""
    for held in answers:
        if not held.is_healthy:
            yield from ((each.word, right) for each, right in zip(held.shown, held.right, strict=True) if each.word)


def table(name: str, answers: Iterable[Answer]) -> Iterator[tuple[object, ...]]:
    """The rows of the table for a round: one for each answer with a word, and one for a thread without any."""
    for number, held in enumerate(answers, 1):
        head = name, number, int(held.is_healthy)
        rows = [
            (*head, min(held.wanted & each.names, default=min(each.names)), each.word or "none",
             f"{each.score:.2f}", f"{each.lead:.2f}", place, int(right))
            for place, (each, right) in enumerate(zip(held.shown, held.right, strict=True), 1)
        ]  # fmt: skip
        yield from rows or [(*head, "", "silent", "0.00", "0.00", 0, int(held.is_healthy))]


def rounds(file: Path) -> Iterator[str]:
    """One line for each round of a table: how many threads with a fault are right first, and within three."""
    places: dict[tuple[str, str], list[int]] = {}
    with file.open(encoding="utf-8", newline="") as held:
        for row in csv.DictReader(held):
            if row["healthy"] == "0":
                found = places.setdefault((row["round"], row["thread"]), [])
                found += [int(row["place"])] if row["right"] == "1" else []
    for name in dict.fromkeys(name for name, _ in places):
        best = [min(right, default=0) for (of, _), right in places.items() if of == name]
        first, three = sum(place == 1 for place in best), sum(1 <= place <= MOST for place in best)
        yield f"round {name}: {len(best)} faulty threads: first {first}, within three {three}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--misses", action="store_true", help="list the threads whose answer is not first")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="append the answers to this table")
    parser.add_argument("--round", default="", help="name of the scoring in the table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the rounds of this table, and nothing else")
    args = parser.parse_args()
    if args.table:
        print(*rounds(args.table), sep="\n")
        return
    chosen = list(threads(args.threads or sorted((SHARED / "cases").glob("*/"))))
    if not chosen:
        print(f"no threads in {args.threads or SHARED / 'cases'}")
        return
    with ProcessPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(answer, chosen, chunksize=8))
    print(summary("scored once" if args.threads else "fitted", answers), flush=True)
    print(*words(judged(answers)), sep="\n")
    for held in answers if args.misses else ():
        if not held.is_healthy and held.right[:1] != [True]:
            got = ", ".join(f"{min(each.names)} [{each.word}]" for each in held.shown[:4])
            print(f"{held.thread:30} want {'|'.join(sorted(held.wanted)):60} got {got}")
    if args.csv:
        is_new = not args.csv.exists()
        with args.csv.open("a", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerows([COLUMNS] if is_new else [])
            out.writerows(table(args.round, answers))


if __name__ == "__main__":
    main()
