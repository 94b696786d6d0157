"""Checks of each launch command alone: numbers that do not fit each other, and a command that ends too early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Finding, Started
from ncdiag.apps.lint.nesting import launches
from ncdiag.facts.vocabulary.launches import starts_fewer_tasks


def check(document: Document) -> Iterator[Finding]:
    """Findings on the launch commands of one container or script, each for itself."""
    for launch in launches(document):
        yield from _few_tasks(launch)
        command: Started | None = launch["_command"]
        words = command.words if command is not None else ()
        if len(words) > 1 and words[-1].isspace():  # an escaped blank is an argument
            what = f"{launch['program']} gets its arguments up to {words[-2]}: a blank follows the backslash after it"
            yield finding("command-cut", launch["_place"], what=what)


def _few_tasks(launch: dict[str, Any]) -> Iterator[Finding]:
    total, each, nodes = (launch.get(name) for name in ("np", "nproc_per_node", "nnodes"))
    if starts_fewer_tasks(str(launch.get("program")), total, each, nodes):
        what = f"The number of tasks is {total}: with --ntasks, --ntasks-per-node={each} is only a maximum"
        yield finding("tasks-too-few", launch["_place"], what=what)
