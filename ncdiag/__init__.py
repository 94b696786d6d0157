"""ncdiag: from a log, a paste or a live node to the root cause of an NCCL network failure, with a fix that was proved.

Public names: ``triage``, ``parse`` and ``check`` take paths and give a ``Report``; ``Options`` say what to judge. They
are imported on first use, so that a command that needs none of them starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncdiag.api import check, parse, triage
    from ncdiag.diagnose import Options
    from ncdiag.report.model import Finding, Report

__all__ = ["Finding", "Options", "Report", "__version__", "check", "parse", "triage"]
__version__ = "0.1.0"
_PLACES = {
    "check": "ncdiag.api", "parse": "ncdiag.api", "triage": "ncdiag.api", "Options": "ncdiag.diagnose",
    "Finding": "ncdiag.report.model", "Report": "ncdiag.report.model",
}  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401  (PEP 562)
    """Import a public name when it is first asked for."""
    place = _PLACES.get(name)
    if place is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(place), name)
