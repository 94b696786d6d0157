"""Read inputs to be compared, and reject those in which nothing was understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ncdiag.diagnose import Baseline
    from ncdiag.text import Case, Window


def case_of(path: str | Path, window: Window | None = None) -> Case:
    """The content of a file, a folder, a bundle or a glob, of logs only a window of time.

    Raises InputError if it cannot be read.
    """
    from ncdiag.machine.inputs import inputs
    from ncdiag.text import read_all

    return read_all(inputs([str(path)]), window=window)


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
