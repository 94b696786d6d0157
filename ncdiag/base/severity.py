"""Severity and confidence of findings: the words that rules, reports and lint share."""

from __future__ import annotations

from typing import Literal

Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely", "possible"]
Weight = Literal["high", "medium", "low"]
"""Weight of a difference: high = ranks may fail or hang, medium = slow or works by luck, low = for information."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Severities, worst first."""
CONFIDENCES: tuple[Confidence, ...] = ("certain", "likely", "possible")
"""Confidences, surest first."""

Scope = Literal["node", "job", "fabric"]
"""What a check is about."""
Actor = Literal["operator", "user"]
"""Who can change what is wrong: the operator of the machines, or the user of the job."""
