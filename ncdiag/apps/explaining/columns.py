"""How wide explanations are."""

from __future__ import annotations

import shutil

_MOST = 100
"""Columns of text at most: longer lines are hard to read."""


def width() -> int:
    """The columns of the terminal (COLUMNS, where it is set), at most `_MOST`, which is what a file or a pipe gets."""
    return min(shutil.get_terminal_size((_MOST, 24)).columns, _MOST)
