"""The width of explanations."""

from __future__ import annotations

import shutil

_MOST = 100
"""Maximum width of text in columns: longer lines are hard to read."""


def width() -> int:
    """The columns of the terminal (COLUMNS, if set), at most `_MOST`; `_MOST` for a file or a pipe."""
    return min(shutil.get_terminal_size((_MOST, 24)).columns, _MOST)
