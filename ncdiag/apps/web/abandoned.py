"""Folders of killed servers: their names contain the process and host to which they belonged.

Hosts and containers may share the folder for temporary files, and process ids are only valid on their host.
"""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
from pathlib import Path

import psutil


def prefix(process: int) -> str:
    """The prefix of the folder name of a process on this host."""
    return f"{_of_host()}{process}-"


def remove() -> None:
    """Remove the folders of servers that no longer run; folders of other users cannot be removed and are skipped."""
    for path in Path(tempfile.gettempdir()).glob(f"{_of_host()}*"):
        process = path.name.removeprefix(_of_host()).partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def _of_host() -> str:
    return f"ncdiag-serve-{re.sub(r'[^a-zA-Z0-9.]', '_', socket.gethostname())}-"
