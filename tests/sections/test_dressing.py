"""An output tells the same however it was pasted: each specimen of each parser in each dress."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tenth import tenth

from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "sections"
PATHS = sorted(path for path in FIXTURES.glob("*/*.txt") if path.parent.name not in {"nccl_log", "text", "traceback"})


def each(dress: Callable[[int, str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join(dress(number, line) for number, line in enumerate(text.split("\n"), 1))


DRESSES: dict[str, Callable[[str], str]] = {
    "quoted": each(lambda _, line: f"> {line}"),
    "quoted twice": each(lambda _, line: f">> {line}"),
    "fenced": lambda text: f"Here it is:\n\n```text\n{text}\n```\nThanks!\n",
    "below a rule": lambda text: f"Hello,\n----------\n{text}",
    "cat -n": each(lambda number, line: f"{number:6d}\t{line}"),
    "cat -n of line 90 on": each(lambda number, line: f"{number + 89:6d}\t{line}"),
    "grep -n of a file": each(lambda number, line: f"logs/n1.txt:{number}:{line}"),
    "bar at the left": each(lambda _, line: f"| {line}"),
    "in a program's log": each(lambda _, line: f"[2026-01-02 03:04:05,678] [INFO] {line}"),
    "in another program's log": each(lambda n, line: f"2026-01-02 03:04:05.{n:03d} | INFO     | {line}"),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "zero-width blanks": each(lambda _, line: f"\u200b{line}"),
    "script(1)": lambda text: (
        f'Script started on 2026-01-02 03:04:05+00:00 [TERM="xterm" COLUMNS="120" LINES="30"]\n{text}\n'
        'Script done on 2026-01-02 03:05:05+00:00 [COMMAND_EXIT_CODE="0"]\n'
    ),
}  # fmt: skip
WHERE = {"text", "order", "line_tag", "time"}
"""Fields that tell of the line rather than of what it says."""
LINES_ENOUGH = 6
"""Less is no run of lines that a dress shows in."""


def told(text: str) -> list[str]:
    """What is observed, without the places."""
    source = TextSource.of_bytes("paste", text.encode())
    return sorted(
        json.dumps([o.entity, list(o.key), o.host, {k: v for k, v in o.fields.items() if k not in WHERE}],
                   sort_keys=True, default=str)
        for o in read_source(source).observations
        # a program that prints a sentence says nothing
        if o.entity not in {"Complaint", "Trial", "Context", "Want", "ToldRate", "RunLabel", "Access", "Duration"}
        and o.fields.get("event") != "failure-words"  # which do not count behind a level such as INFO
    )  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("path", [pytest.param(p, id=f"{p.parent.name}/{p.stem}") for p in PATHS])
def test_every_specimen_in_every_dress(path: Path) -> None:
    text = path.read_text()
    if text.count("\n") < LINES_ENOUGH or text.startswith((">", "|", "```")) or "\n>" in text or "\n```" in text:
        return  # has a dress of its own, or too few lines for one
    plain = told(text)
    for name in tenth(DRESSES, lambda name: f"{path.parent.name}/{path.stem}/{name}", one_in=3):
        assert told(DRESSES[name](text)) == plain, name


@pytest.mark.parametrize("name", ["p2p_latency/six-gpus", "nvbandwidth/six-gpus"])
def test_the_rows_of_a_matrix_of_gpus_are_no_line_numbers(name: str) -> None:
    links = [json.loads(line)[1] for line in told((FIXTURES / f"{name}.txt").read_text()) if "peer_gb_per_s" in line]
    assert sorted(links) == [[f"GPU{one}", f"GPU{other}"] for one in range(6) for other in range(one + 1, 6)]
