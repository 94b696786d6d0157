"""Read inputs to be compared, and reject those in which nothing was understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncdiag.comparing.beside import Judged
    from ncdiag.diagnose import Baseline, Lines
    from ncdiag.report.model import Report
    from ncdiag.report.period import Changed
    from ncdiag.text import Case, Window


def case_of(path: str | Path, window: Window | None = None) -> Case:
    """The content of a file, a folder, a bundle or a glob, of logs only a window of time.

    Raises InputError if it cannot be read.
    """
    from ncdiag.machine.inputs import inputs
    from ncdiag.text import read_all

    return read_all(inputs([str(path)]), window=window)


def lines_compared(paths: Sequence[str], window: Window | None, asked: str) -> Lines:
    """What compares the lines of two logs in the last ``asked`` (a duration) of each. Raises UsageError."""
    from ncdiag.commands._options import window_of
    from ncdiag.text import File, Run, Window, differing

    held = window_of(None, None, asked)
    seconds = held.compare if held is not None else None
    asks = window or Window(now=held.now if held else 0.0, local=held.local if held else 0)

    def compared(before: Judged, after: Judged) -> tuple[Changed, ...] | None:
        from ncdiag.machine.inputs import inputs
        from ncdiag.report.period import Changed

        def run(path: str, report: Report) -> Run:
            return Run([item for item in inputs([path]) if isinstance(item, File)], asks, _first_failure(report))

        old, new = (run(path, side.report) for path, side in zip(paths, (before, after), strict=True))
        names = [host.name for side in (before, after) for host in side.view.job.hosts]
        found = differing(old, new, seconds or 0.0, names)
        return None if found is None else tuple(
            Changed(one.what, found.bounds.written(one.time), one.source, one.line, one.text, one.every, one.now)
            for one in found.changes
        )  # fmt: skip

    return compared


def _first_failure(report: Report) -> tuple[str, int] | None:
    """The place of the first failure of a run, if the report knows which it is."""
    for moment in report.timeline:
        if moment.what == "first-failure" and moment.evidence:
            return moment.evidence[0].source, moment.evidence[0].line
    return next(
        ((line.source, line.line) for found in report.findings if found.severity == "error" for line in found.evidence),
        None,
    )


def is_understood(case: Case) -> bool:
    """True if anything in the input was understood."""
    return bool(case.observations) or any(reading.observations for reading in case.readings)


def saved(path: str | Path) -> Baseline:
    """A saved state. Raises UsageError if nothing in it was understood, InputError if it cannot be read."""
    from ncdiag.diagnose import Baseline

    case = case_of(path)
    if not is_understood(case):
        msg = (
            f"nothing in the baseline {path} was recognised; create one with `ncdiag collect -o BUNDLE` on a good host"
        )
        raise UsageError(msg)
    return Baseline(str(path), case)
