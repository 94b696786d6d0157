"""The shipped rules for the tests of the whole book: loaded once in a process, and the tenth that a run takes."""

from __future__ import annotations

import functools
from pathlib import Path

from tenth import tenth

from ncdiag import catalogue
from ncdiag.engine.load import load_folder, rule_files
from ncdiag.engine.schema import Rule


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All shipped rules with their examples, by code, their conditions checked against the names that exist."""
    return load_folder(catalogue.rules_dir(), catalogue.names())


def swept(*, one_in: int = 1) -> list[Rule]:
    """The rules that a sweep of this run takes; ``one_in`` as in `tenth`."""
    return tenth(rules(), lambda rule: rule.name, one_in=one_in)


def swept_files() -> list[Path]:
    """The files of these rules; reading their names costs less than loading the book."""
    return tenth(rule_files(catalogue.rules_dir()), lambda path: path.stem)
