"""Folders of servers that were killed: their names tell which process they belonged to."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import psutil

_NAME = re.compile(r"ncdiag-serve-(\d+)-.*")


def prefix() -> str:
    """How the name of this process's folder begins."""
    return f"ncdiag-serve-{os.getpid()}-"


def remove() -> None:
    """Remove the folders of servers that no longer run; what belongs to others cannot be removed and stays."""
    for path in Path(tempfile.gettempdir()).glob("ncdiag-serve-*"):
        named = _NAME.fullmatch(path.name)
        if named and not psutil.pid_exists(int(named[1])):
            shutil.rmtree(path, ignore_errors=True)
