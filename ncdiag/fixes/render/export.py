"""For a shell, a job script or a profile."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment

LAUNCHER = "export"
PROGRAMS: tuple[str, ...] = ()


def line(change: Change) -> str | None:
    """``unset B; export A=1``."""
    parts = [f"unset {' '.join(change.unset)}"] if change.unset else []
    if change.env:
        parts.append("export " + " ".join(assignment(*item) for item in change.env.items()))
    return "; ".join(parts) or None
