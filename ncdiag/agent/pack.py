"""A bundle as bytes: one folder in a compressed tar archive."""

import io
import tarfile
from typing import Iterable, Tuple

FOLDER = "ncdiag-bundle"
"""The only top folder in a bundle."""


def packed(members: Iterable[Tuple[str, bytes]], moment: float) -> bytes:
    """A bundle of (name, content), in this order; ``moment`` is the time of its files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=6) as archive:
        for name, data in members:
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o600, int(moment)
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()
