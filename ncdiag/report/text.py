"""The report for a person at a terminal: one screen, the whole, or one line per finding.

The layout is the same with and without colour; rich only adds the colours, if requested.
"""

from __future__ import annotations

from typing import Literal

from ncdiag.report import brief, screen, whole
from ncdiag.report.model import Report
from ncdiag.report.page import Page

Detail = Literal["brief", "screen", "whole"]
_LAYOUTS = {"brief": brief.lay_out, "screen": screen.lay_out, "whole": whole.lay_out}


def render(report: Report, *, width: int = 80, colour: bool = False, detail: Detail = "whole", **_: object) -> str:
    """The report as text of at most ``width`` columns, lines to paste excepted."""
    page = Page(width, width) if detail == "brief" else Page(width)
    _LAYOUTS[detail](page, report)
    return page.painted() if colour else page.plain()
