"""The place of NCCL's logs and PyTorch's dumps of a job, and who can read them."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import msgspec

from ncdiag.base.errors import OutputError

_LOCAL = frozenset({
    "tmpfs", "ramfs", "devtmpfs", "overlay", "aufs", "zfs", "squashfs", "proc", "sysfs", "hugetlbfs", "rootfs",
})  # fmt: skip
"""File systems without a block device (``nodev`` in /proc/filesystems) that are not shared between hosts."""


class Place(msgspec.Struct, frozen=True):
    """``begin`` is the prefix of all paths: a folder and a slash, or a folder and the start of a name.

    ``kept``: the user wants the files. ``note``: what cannot be seen of other hosts.
    """

    begin: str
    kept: bool = False
    note: str = ""

    def remove(self) -> None:
        """Remove all files on this host, unless they are kept."""
        if self.kept:
            return
        if self.begin.endswith("/"):
            shutil.rmtree(self.begin, ignore_errors=True)
            return
        for path in glob.glob(f"{glob.escape(self.begin)}*"):  # noqa: PTH207  (a prefix, not a folder)
            with contextlib.suppress(OSError):
                Path(path).unlink()


def choose(logs: Path | None, *, elsewhere: bool) -> Place:
    """The requested folder, else a private one; ``elsewhere``: other hosts write there, too.

    If a folder does not exist on a host, NCCL prints to the job's output there: if none is known to be shared, the
    files get a special name in the folder for temporary files, which every host has. Raises OutputError.
    """
    try:
        if logs is not None:
            logs.mkdir(parents=True, exist_ok=True)
            return Place(f"{logs.resolve()}/", kept=True)
        if not elsewhere:
            return Place(tempfile.mkdtemp(prefix="ncdiag-") + "/")
        if _is_shared(Path.cwd()):
            return Place(tempfile.mkdtemp(prefix=".ncdiag-", dir=Path.cwd()) + "/")
    except OSError as error:
        msg = f"cannot create a folder for the logs: {error.strerror}: {error.filename}"
        raise OutputError(msg) from None
    begin = f"{tempfile.gettempdir()}/ncdiag-{secrets.token_hex(8)}."
    return Place(
        begin,
        note=f"logs and dumps on other hosts (they remain there as {begin}*; use --logs with a shared folder to "
        "include them)",
    )


def _is_shared(folder: Path) -> bool:
    """True if the folder is on a network file system (/proc/self/mountinfo, proc_pid_mountinfo(5))."""
    best, kind = -1, ""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        virtual = Path("/proc/filesystems").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    for line in mounts:
        before, _, behind = line.partition(" - ")
        words, types = before.split(), behind.split()
        point = words[4].replace("\\040", " ") if len(words) > 4 else ""  # noqa: PLR2004  (the fifth field)
        if types and len(point) >= best and (folder.is_relative_to(point) if point else False):
            best, kind = len(point), types[0]
    name = kind.partition(".")[0]
    nodev = {line.split()[-1] for line in virtual if line.startswith("nodev")}
    return bool(kind) and kind not in _LOCAL and (name in nodev or "." in kind) and os.access(folder, os.W_OK)
