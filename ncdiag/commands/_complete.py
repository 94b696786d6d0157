"""The values that a shell completes: each function returns those that begin with what was typed."""

from __future__ import annotations


def formats(incomplete: str) -> list[str]:
    """The formats of a report."""
    from ncdiag.report import formats as known

    return [name for name in known() if name.startswith(incomplete)]


def areas(incomplete: str) -> list[str]:
    """The areas of the table of ``check``."""
    from ncdiag.checks.book import book

    return [area.name for area in book().area if area.name.startswith(incomplete)]


def variables(incomplete: str) -> list[str]:
    """The variables of NCCL; none before a letter is typed, so that files are completed."""
    from ncdiag.nccl import environment

    return [name for name in environment.variables() if incomplete and name.startswith(incomplete)]
