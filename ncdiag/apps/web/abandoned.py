"""Folders of servers that were killed: their names tell which process of which host they belonged to.

Hosts and containers may share the place of temporary files, and a process is known on its own alone.
"""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
from pathlib import Path

import psutil


def prefix(process: int) -> str:
    """How the name of the folder of a process on this host begins."""
    return f"{_of_host()}{process}-"


def remove() -> None:
    """Remove the folders of servers that no longer run; what belongs to others cannot be removed and stays."""
    for path in Path(tempfile.gettempdir()).glob(f"{_of_host()}*"):
        process = path.name.removeprefix(_of_host()).partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _of_host() -> str:
    return f"ncdiag-serve-{re.sub(r'[^a-zA-Z0-9.]', '_', socket.gethostname())}-"
