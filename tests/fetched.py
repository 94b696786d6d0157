"""Files that a test fetched and the next runs find again."""

from __future__ import annotations

import os
from pathlib import Path


def keep(path: Path, content: bytes) -> None:
    """Write a file that other processes of this run may look for meanwhile: they find all of it, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)
