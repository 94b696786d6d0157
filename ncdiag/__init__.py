"""ncdiag: from a log, a paste or a live node to the root cause of an NCCL network failure, with a fix that was proved.

Public names: ``ncdiag.diagnose.diagnose`` with its ``Options``, and here ``Report``, ``Finding``, ``__version__``. They
are imported on first use, so that a command that needs none of them starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncdiag.report.model import Finding, Report

__all__ = ["Finding", "Report", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:  # noqa: ANN401  (PEP 562)
    """Import a public name when it is first asked for."""
    if name not in {"Finding", "Report"}:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from ncdiag.report import model

    return getattr(model, name)
