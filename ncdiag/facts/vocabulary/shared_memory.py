"""Is /dev/shm full although it is as large as jobs need, so that something else fills it?"""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.view import View

_SHM = "/dev/shm"  # noqa: S108  (it is the subject, no temporary file)
_ENOUGH = 16 << 30
"""Bytes that the ranks of one host do not use up with NCCL's buffers alone."""
_FREE = 1 << 20


def is_filled(host: Host, view: View) -> bool:
    """Is the /dev/shm of the host large, and full?"""
    for mount in host.mounts or ():
        if mount.path == _SHM and (mount.size_bytes or 0) >= _ENOUGH and mount.available_bytes is not None:
            view.note(mount)
            return mount.available_bytes < _FREE
    return False
