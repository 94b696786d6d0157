"""How bad a finding is and how sure: the words that rules, reports and lint share."""

from __future__ import annotations

from typing import Literal

Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely", "possible"]
Weight = Literal["high", "medium", "low"]
"""How much a difference matters: ranks may fail or hang, they are slow or work by luck, or it is worth knowing."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""
CONFIDENCES: tuple[Confidence, ...] = ("certain", "likely", "possible")
"""Surest first."""
