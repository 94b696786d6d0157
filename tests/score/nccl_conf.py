"""Truths of nccl_conf specimens from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job


def truths(job: Job) -> dict[str, Any]:
    """Settings of a conf file; values with blanks (a comment behind them, which NCCL would read) are left out of
    the truths.
    """
    found = [s for s in job.settings if s.origin == "conf file" and s.text is not None and " " not in s.text]
    return {"entries": {s.name: s.text for s in found}}
