"""Places for uploads whose end has not arrived yet.

A new upload always gets a place. If there is none, the upload that has been silent for the longest time gives its place
up: one that was sent halfway and left, never one whose data is arriving.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import anyio


class Upload:
    """An upload in progress, from an ``address``; ``given_up`` once another has taken its place."""

    def __init__(self, address: str) -> None:
        self.address, self.given_up = address, False
        self.scope = anyio.CancelScope()
        self.heard_at = anyio.current_time()

    def heard(self) -> None:
        """Note that data has arrived."""
        self.heard_at = anyio.current_time()

    def give_up(self) -> None:
        """Cancel the block that receives it."""
        self.given_up = True
        self.scope.cancel()


class Unfinished:
    """The uploads in progress: at most ``places`` in all, and ``each`` from one address."""

    def __init__(self, places: int, each: int) -> None:
        self._places, self._each = places, each
        self._uploads: list[Upload] = []

    @contextlib.contextmanager
    def place(self, address: str) -> Iterator[Upload]:
        """A place for the upload that the block receives; the block is cancelled if the upload is given up."""
        upload = Upload(address)
        self._make_room([other for other in self._uploads if other.address == address], self._each)
        self._make_room(self._uploads, self._places)
        self._uploads.append(upload)
        try:
            with upload.scope:
                yield upload
        finally:
            if not upload.given_up:
                self._uploads.remove(upload)

    def _make_room(self, among: list[Upload], most: int) -> None:
        """Leave at least one of ``most`` places free among these."""
        if len(among) >= most:
            silent = min(among, key=lambda upload: upload.heard_at)
            self._uploads.remove(silent)
            silent.give_up()
