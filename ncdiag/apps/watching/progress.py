"""Detect whether the job makes progress: it does while it or NCCL prints."""

from __future__ import annotations

import time
from collections.abc import Callable


class Progress:
    """A timer that is reset by each output, and reports once when there was none for too long."""

    def __init__(self, limit: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """``limit`` in seconds; None or 0: silence is never reported."""
        self._limit, self._clock = limit if limit and limit > 0 else None, clock  # nan is neither
        self._since, self._told = clock(), False

    def seen(self) -> None:
        """Reset the timer: there was output."""
        self._since, self._told = self._clock(), False

    @property
    def silent_for(self) -> float:
        """Seconds since the last output."""
        return self._clock() - self._since

    @property
    def is_told(self) -> bool:
        """True if the silence was reported and still lasts."""
        return self._told

    def is_stuck(self) -> bool:
        """True once for each silence that is too long."""
        if self._told or self._limit is None or self.silent_for < self._limit:
            return False
        self._told = True
        return True
