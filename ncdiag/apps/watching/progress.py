"""Does the job go on? It does as long as it prints, or NCCL does."""

from __future__ import annotations

import time
from collections.abc import Callable


class Progress:
    """A clock that begins anew with each sign of life, and tells once when nothing came for too long."""

    def __init__(self, limit: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """``limit`` are seconds; None or 0: silence means nothing."""
        self._limit, self._clock = limit if limit and limit > 0 else None, clock  # nan is neither
        self._since, self._told = clock(), False

    def seen(self) -> None:
        """Something came."""
        self._since, self._told = self._clock(), False

    @property
    def silent_for(self) -> float:
        """Seconds since something came."""
        return self._clock() - self._since

    @property
    def is_told(self) -> bool:
        """Was the silence told, and does it still last?"""
        return self._told

    def is_stuck(self) -> bool:
        """True once for each silence that is too long."""
        if self._told or self._limit is None or self.silent_for < self._limit:
            return False
        self._told = True
        return True
