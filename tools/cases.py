# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""Measure how often the answer to a real support thread is right: on fitted threads, and on a fifth that was left out.

Usage: python tools/cases.py [--unread] [--misses] [--jobs N]     or     make cases

The threads are next to the project (NCDIAG_SHARED, default ../shared) as ``cases/<folder>/index.json`` and a text each.
The minimum scores of possible, likely and very likely suspects are fitted: once on all threads, and once for each fifth
on the four others (a thread's fifth is determined by its name). The result printed as "left out" is the one that
docs/reports.md may quote. Threads listed in ``unread.txt`` are skipped unless ``--unread`` is given, which scores them
with the shipped numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ncdiag import catalogue, diagnose
from ncdiag.engine.causes import conclude
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.schema import Rule
from ncdiag.fixes.values import Values
from ncdiag.machine.inputs import inputs
from ncdiag.suspects import choose
from ncdiag.suspects.weigh import Weighed
from ncdiag.text.reading.many import read_all

SHARED = Path(os.environ.get("NCDIAG_SHARED") or Path(__file__).resolve().parents[2] / "shared")
FIFTHS = 5
WORDS = ("very likely", "likely", "possible")
GRID = {
    "very": (3.0, 3.4, 3.8, 4.0, 4.2, 4.8),
    "lead": (0.8, 1.0, 1.2, 1.4),
    "likely": (2.4, 2.8, 3.2, 3.6),
    "possible": (1.2, 1.6, 2.0),
}
PROMISED = {"very likely": 0.8, "likely": 0.6, "possible": 0.4}


class Guess(NamedTuple):
    """A suspect by its name and former ones, its score, and its evidence.

    ``no_more``: nothing beyond a symptom that was found; ``words``: only the words of the input.
    """

    names: list[str]
    score: float
    no_more: bool
    words: bool


class Answer(NamedTuple):
    """The answer to a thread. Names come with their former ones; ``suspects`` are sorted, best first."""

    case: str
    wanted: frozenset[str]
    specific: list[list[str]]
    suspects: list[Guess]
    telling: list[list[str]]
    named: bool
    others: list[list[str]]
    troubled: bool
    loud: int
    complaint: bool
    unsettled: bool


class Limits(NamedTuple):
    """The minimum scores of the words."""

    very: float
    lead: float
    likely: float
    possible: float


def names(rule: Rule) -> list[str]:
    """The name of a rule and its former ones, at most four."""
    return [rule.name, *rule.formerly[:4]]


def answer(item: tuple[dict[str, Any], Path]) -> Answer:
    """Diagnose one thread."""
    case, path = item
    read = read_all(inputs([str(path)]))
    view = diagnose.view_of(read.job())
    rules = catalogue.rules()
    verdicts = judge_all(rules, view, Values(view))
    findings = conclude(verdicts, view).findings
    weighed: list[Weighed] = []
    if choose.is_called_for(findings, view):
        scales = diagnose.scales_of(read, view, findings, verdicts)
        weighed = scales.weigh(choose.eligible(rules, findings))
    cited = choose.lines_of_symptoms(findings)
    return Answer(
        case=case["id"],
        wanted=frozenset({case["expected"]["finding"], *case["expected"].get("also_ok", [])}),
        specific=[names(found.rule) for found in findings if choose.is_specific(found)],
        suspects=[
            Guess(names(each.rule), each.score, choose.says_no_more(each, cited), each.only_resembles)
            for each in weighed
        ],
        telling=[names(found.rule) for found in findings if choose.is_telling(found)]
        + [names(found.rule) for found in findings if found.role == "risk" and found.severity != "info"],
        named=any(map(choose.is_named, findings)),
        others=[names(found.rule) for found in findings if not choose.is_specific(found)],
        troubled=choose.is_troubled(findings, view),
        loud=sum(found.severity != "info" for found in findings),
        complaint=bool(view.job.complaints),
        unsettled=any(found.severity == "error" for found in findings),
    )


def words(held: Answer, limits: Limits) -> list[tuple[Guess, str]]:
    """The suspects that are shown, each with its word."""
    found: list[tuple[Guess, str]] = []
    signed = [guess for guess in held.suspects if not guess.words]
    says_more = held.named or any(guess.score >= limits.possible for guess in signed)
    suspects = signed if says_more else held.suspects
    for place, guess in enumerate(suspects[: choose.MOST]):
        behind = suspects[place + 1].score if place + 1 < len(suspects) else 0.0
        if guess.score < limits.possible or suspects[0].score - guess.score > choose.FAR:
            break
        word = "likely" if guess.score >= limits.likely else "possible"
        if place == 0 and guess.score >= limits.very and guess.score - behind >= limits.lead:
            word = "very likely"
        found.append((guess, word if held.troubled and not guess.no_more else "possible"))
    return found


def judged(held: Answer, limits: Limits) -> Counter[str]:
    """Counts: right first, right among three, silent, wrong claims; for each word, how often it was used and right."""
    guesses = words(held, limits)
    suspects = [(guess.names, word) for guess, word in guesses]
    likely = [names for names, word in suspects if word != "possible"]
    possible = [guess.names for guess, _ in guesses if not guess.words]
    guessed = [guess.names for guess, _ in guesses if guess.words]
    shown = [*held.specific, *likely, *held.telling, *possible, *held.others, *guessed]
    unique = list({names[0]: names for names in shown}.values())
    right = [bool(held.wanted & set(names)) for names in unique]
    claims = [*held.specific, *(names for names, word in suspects if word == "very likely")]
    wrong = sum(not held.wanted & set(names) for names in claims)
    found = Counter({"threads": 1, "wrong": wrong})
    if held.wanted == {"none"}:
        calm = not (wrong or held.unsettled or any(word != "possible" for _, word in suspects))
        return found + Counter({"first": calm, "three": calm, "healthy": 1, "healthy calm": calm})
    for names, word in suspects:
        found[f"said {word}"] += 1
        found[f"right {word}"] += bool(held.wanted & set(names))
    found["first"] += bool(right) and right[0]
    found["three"] += any(right[:3])
    found["silent"] += not (held.loud or suspects or held.complaint)
    return found


def fitted(answers: Sequence[Answer]) -> Limits:
    """The limits that keep the promises of the words and answer most threads."""
    best = float("-inf"), Limits(*(values[0] for values in GRID.values()))
    for values in product(*GRID.values()):
        limits = Limits(*values)
        if not limits.very > limits.likely > limits.possible:
            continue
        total = sum((judged(held, limits) for held in answers), Counter[str]())
        broken = sum(max(0.0, PROMISED[word] - _share(total, word)) for word in WORDS)
        worth = (total["first"] + 0.5 * total["three"] + 0.1 * total["said very likely"]) / len(answers) - 2 * broken
        if worth > best[0]:
            best = worth, limits
    return best[1]


def _share(total: Counter[str], word: str) -> float:
    """The share of right uses of a word by Laplace's rule of succession, so that luck with few counts little."""
    return (total[f"right {word}"] + 1) / (total[f"said {word}"] + 2)


def fifth(case: str) -> int:
    """The fifth to which a thread belongs, by its name."""
    return int(hashlib.sha256(case.encode()).hexdigest(), 16) % FIFTHS


def line(title: str, total: Counter[str]) -> str:
    """One line of the table."""
    count = total["threads"]
    share = " ".join(f"{name} {total[name] / count:5.0%} " for name in ("first", "three", "silent"))
    said = ", ".join(f"{word} {total[f'right {word}']}/{total[f'said {word}']}" for word in WORDS)
    calm = f"healthy {total['healthy calm']}/{total['healthy']}"
    return f"{title:22} {count:4} threads  {share} wrong {total['wrong'] / count:.2f}  {calm}  right when {said}"


def listed() -> list[tuple[dict[str, Any], Path]]:
    """All threads."""
    found = []
    for index in sorted((SHARED / "cases").glob("*/index.json")):
        for case in json.loads(index.read_text(encoding="utf-8"))["cases"]:
            found.append((case, index.parent / case.get("file", f"{case['id']}.txt")))  # noqa: PERF401
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--unread", action="store_true", help="score the threads that are listed as unread, and no others"
    )
    parser.add_argument("--misses", action="store_true", help="list the threads whose answer is not first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    unread = set((SHARED / "cases" / "unread.txt").read_text(encoding="utf-8").split())
    chosen = [item for item in listed() if (item[0]["id"] in unread) == args.unread]
    if not chosen:
        print(f"no threads in {SHARED / 'cases'}")
        return
    with ProcessPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(answer, chosen, chunksize=8))
    shipped = Limits(choose.VERY_LIKELY, choose.LEAD, choose.LIKELY, choose.POSSIBLE)
    print(line("unread" if args.unread else "as shipped", total_of(answers, shipped)), flush=True)
    rules_alone = [held._replace(suspects=[]) for held in answers]
    print(line("without suspects", total_of(rules_alone, shipped)))
    if not args.unread:
        whole = fitted(answers)
        print(line("fitted", total_of(answers, whole)), f" {whole}")
        left_out: Counter[str] = Counter()
        for number in range(FIFTHS):
            limits = fitted([held for held in answers if fifth(held.case) != number])
            left_out += total_of([held for held in answers if fifth(held.case) == number], limits)
        print(line("left out", left_out))
    if args.misses:
        for held in answers:
            if not judged(held, shipped)["first"]:
                shown = [names[0] for names in held.specific] + [
                    f"{guess.names[0]}={guess.score:.1f}" for guess in held.suspects[:4]
                ]
                place = next((i for i, guess in enumerate(held.suspects) if held.wanted & set(guess.names)), None)
                print(f"{held.case:28} want {'|'.join(sorted(held.wanted)):60} got {' '.join(shown)}  at {place}")


def total_of(answers: Iterable[Answer], limits: Limits) -> Counter[str]:
    """The sums over threads."""
    return sum((judged(held, limits) for held in answers), Counter[str]())


if __name__ == "__main__":
    main()
