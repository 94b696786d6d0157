"""How far a progress bar is: no message and no failure, but a fact that rules may weigh."""

from __future__ import annotations

import re

from ncdiag.parsers._context import Context
from ncdiag.parsers._events import Collector, Found

_PROGRESS = "progress-bar"
EVENTS = {_PROGRESS: {"done": "int", "total": "int"}}
"""Events that are told by the form of a line, and the types of their fields."""

_BAR = re.compile(r"[^|]{0,80}?\d{1,3}%\|[^|]{0,400}\|\s?(?P<done>\d{1,9})/(?P<total>\d{1,9}) \[")
"""tqdm: ``Epoch 1:   0%|          | 0/16 [00:00<?, ?it/s]``."""


class Bars:
    """Of the progress bars of a section only the last state counts."""

    def __init__(self, collector: Collector) -> None:
        """``collector`` gathers the events of the section."""
        self._collector = collector
        self._last: tuple[int, Found, Context, str] | None = None

    def see(self, index: int, context: Context, text: str) -> bool:
        """Take a line that is no message; tell whether it is a bar."""
        bar = _BAR.match(text[:1000]) if "%|" in text else None
        if bar is None or not int(bar["total"]):
            return False
        done = Found(_PROGRESS, "app", "fact", {"done": int(bar["done"]), "total": int(bar["total"])})
        self._last = index, done, context, text
        return True

    def finish(self) -> None:
        """Hand over the last state."""
        if self._last is not None:
            self._collector.add(*self._last)
