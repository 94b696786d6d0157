"""What the rules find in a text, without the suspects, which take longer than all the rest."""

from __future__ import annotations

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine.causes import conclude
from ncdiag.engine.fallback import judge_all
from ncdiag.engine.results import Finding
from ncdiag.fixes.values import Values
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource


def findings(text: str) -> tuple[Finding, ...]:
    """The findings of a report on the text, the most important first."""
    view = view_of(read_all([TextSource.of_bytes("log", text.encode())]).job())
    return conclude(judge_all(catalogue.rules(), view, Values(view)), view, understood=True).findings
