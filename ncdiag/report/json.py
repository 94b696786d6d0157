"""The report for programs: the JSON of ``ncdiag.report.model``, safe to show on a terminal."""

from __future__ import annotations

import json

import msgspec

from ncdiag.report.model import Report
from ncdiag.report.sanitize import json_escapes


def render(report: Report, **_: object) -> str:
    """Indented JSON; characters with an effect on a terminal are written as JSON escapes, which changes no value."""
    return json_escapes(json.dumps(msgspec.to_builtins(report), ensure_ascii=False, indent=1)) + "\n"
