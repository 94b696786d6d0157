"""A text gets the same answer when lines that say nothing make it longer than what is read as a paste."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text import LIMIT, TextSource

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"
SIZES = 200_000, 300_000
"""Bytes: of a text that is read as a paste, and of one that is not."""
CASES = sorted(path for path in FIXTURES.rglob("*") if path.suffix in {".txt", ".log"})
Clothes = Callable[[int, str], str]
OTHERS: dict[str, Clothes] = {
    "numbers": lambda number, line: f"{number:6}\t{line}",
    "syslog": lambda number, line: f"Mar  2 04:11:{number // 1000 % 60:02} login1 job[812]: {line}",
    "bars": lambda _, line: f"| {line} |",
}


def bare(_: int, line: str) -> str:
    return line


def quoted(_: int, line: str) -> str:
    return f"> {line}"


def padded(text: str, size: int, dressed: Clothes) -> bytes:
    """The text in the middle of steps of a job, so that all has that size at least."""
    step = "[2026-03-02 04:{:02}:{:02}] iteration {:8}/ 500000 | elapsed time (ms): 9{:02}.4 | lm loss: 2.{:03} |"
    steps = [step.format(n // 60 % 60, n % 60, n, n % 97, n % 900) for n in range(1, size // 60)]
    around = max(0, size - sum(len(dressed(1, line)) + 1 for line in text.splitlines()))
    half = around // (len(dressed(1, steps[0])) + 1) // 2 + 1
    lines = [*steps[:half], *text.splitlines(), *steps[half : 2 * half]]
    return "".join(f"{dressed(number, line)}\n" for number, line in enumerate(lines, 1)).encode()


def answers(path: Path, dressed: Clothes) -> list[tuple[str, str | None, set[str]]]:
    """(verdict, cause, findings) at each size."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found: list[tuple[str, str | None, set[str]]] = []
    for size in SIZES:
        data = padded(text, size, dressed)
        assert (len(data) > LIMIT) == (size > LIMIT)
        report = diagnose([TextSource.of_bytes("job.log", data)])
        named = {each.name for each in report.findings if each.severity != "info"}
        found.append((report.summary.verdict, report.summary.root_cause, named))
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("path", CASES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_a_longer_text_gets_the_same_answer(path: Path) -> None:
    short, long = answers(path, bare)
    assert short == long


@pytest.mark.sweep
@pytest.mark.parametrize("path", CASES[::4], ids=lambda path: str(path.relative_to(FIXTURES)))
def test_a_longer_text_in_quotes_gets_the_same_answer(path: Path) -> None:
    short, long = answers(path, quoted)
    assert short == long


@pytest.mark.sweep
@pytest.mark.parametrize("clothes", OTHERS)
def test_a_longer_text_in_other_clothes_gets_the_same_answer(clothes: str) -> None:
    short, long = answers(FIXTURES / "memlock-64k" / "paste.txt", OTHERS[clothes])
    assert short == long
