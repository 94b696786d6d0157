"""The report as a self-contained HTML page: no script, no external picture and no external font."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncdiag.facts.view import View
    from ncdiag.report.html.context import Lines
    from ncdiag.report.model import Report


def render(report: Report, *, view: View | None = None, lines: Lines | None = None, **_: object) -> str:
    """The whole page.

    ``view`` has the facts of the job, from which pictures are drawn; ``lines`` are lines of the input by source and
    number: those around the cited ones. Without them the page has only the answer.
    """
    from ncdiag.report.html.page import page

    return page(report, view, lines)
