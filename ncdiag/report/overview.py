"""Many jobs, each with its report: one line per job, worst first."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from ncdiag.base.errors import UsageError
from ncdiag.base.severity import SEVERITIES
from ncdiag.language import cells, counted, say
from ncdiag.report.model import Report
from ncdiag.report.sanitize import json_escapes, one_line

Jobs = Sequence[tuple[str, Report]]
_WORDS = {
    "root-cause": "root cause",
    "failed-cause-not-here": "cause unknown",
    "complaint-nothing-seen": "complaint",
    "risk-only": "risk",
    "nothing-understood": "not recognised",
    "healthy-as-far-as-seen": "no fault found",
}
"""Verdicts in a word or two, worst first."""
_LEAST = 60
"""Minimum width of a line in columns."""


def ordered(jobs: Jobs) -> list[tuple[str, Report]]:
    """The jobs, worst first, then by name."""
    return sorted(jobs, key=lambda job: (_badness(job[1]), job[0]))


def _badness(report: Report) -> tuple[int, int]:
    severities = [SEVERITIES.index(finding.severity) for finding in report.findings]
    return min(severities, default=len(SEVERITIES)), [*_WORDS].index(report.summary.verdict)


def as_text(jobs: Jobs, width: int | None) -> str:
    """One line per job with its name, verdict and first finding or suspect, cut at ``width``, then the totals."""
    names, shown = _names([name for name, _ in jobs]), ordered(jobs)
    room = max(map(cells.width, names.values()), default=0)
    words = max(cells.width(say(word)) for word in _WORDS.values())
    end = None if width is None else max(width, _LEAST)
    if end is not None:
        room = min(room, end // 2)
    lines = [
        f"{cells.pad(_middle_cut(names[name], room), room)}  "
        f"{cells.pad(say(_WORDS[report.summary.verdict]), words)}  {_first(report)}"
        for name, report in shown
    ]
    lines = [line if end is None else line[: cells.fit(line, end)] for line in lines]
    return "\n".join([*(line.rstrip() for line in lines), "", _sum(jobs), ""])


def _first(report: Report) -> str:
    shown = [found for found in report.findings if found.severity != "info"]
    if shown:
        return say("{label}: {text}", label=f"{shown[0].code} {shown[0].name}", text=one_line(shown[0].title))
    if report.suspects:
        first = report.suspects[0]
        return say("{label}: {text}", label=say(first.likelihood), text=f"{first.code} {first.name}")
    return ""


def _sum(jobs: Jobs) -> str:
    numbers: Counter[str] = Counter(report.summary.verdict for _, report in jobs)
    told = [f"{numbers[verdict]} {say(word)}" for verdict, word in _WORDS.items() if numbers[verdict]]
    return say("{label}: {text}", label=counted(len(jobs), "job"), text=say(", ").join(told)) if jobs else say("no job")


def _names(names: Sequence[str]) -> dict[str, str]:
    """The names as shown: without the folders that all have in common."""
    shared = os.path.commonprefix(list(names))  # noqa: RUF071  (cut back to a folder; a path may be one in an archive)
    folder = shared[: shared.rfind("/") + 1]
    return {name: one_line(name.removeprefix(folder)) for name in names}


def _middle_cut(name: str, room: int) -> str:
    """The name without its middle if it is too long: names differ at both ends."""
    if len(name) <= room:
        return name
    half = (room - 3) // 2
    return f"{name[: room - 3 - half]}...{name[len(name) - half :]}"


def as_json(jobs: Jobs, width: int | None) -> str:  # noqa: ARG001  (as of the others)
    """``{"jobs": [{"name": ..., "report": ...}]}``, each report as it is printed for one job."""
    held = {"jobs": [{"name": name, "report": msgspec.to_builtins(report)} for name, report in ordered(jobs)]}
    return json_escapes(json.dumps(held, ensure_ascii=False, indent=1)) + "\n"


def as_markdown(jobs: Jobs, width: int | None) -> str:  # noqa: ARG001
    """A table."""
    rows = [
        f"| {_cell(name)} | {say(_WORDS[report.summary.verdict])} | {_cell(_first(report))} |"
        for name, report in ordered(jobs)
    ]
    head = f"| {say('job')} | {say('verdict')} | {say('first')} |"
    return "\n".join([head, "| --- | --- | --- |", *rows, "", _sum(jobs), ""])


def _cell(text: str) -> str:
    return one_line(text).replace("|", r"\|").replace("<", "&lt;").replace("`", r"\`")


_FORMATS: dict[str, Callable[[Jobs, int | None], str]] = {"text": as_text, "json": as_json, "markdown": as_markdown}


def renderer(name: str) -> Callable[[Jobs, int | None], str]:
    """The function for a format; raises UsageError for an unknown one."""
    if name not in _FORMATS:
        msg = f"there is no format {name!r} for many jobs; the formats are {', '.join(_FORMATS)}"
        raise UsageError(msg)
    return _FORMATS[name]
