"""How far a program says that it is: steps, epochs, bars. No message and no failure, but a fact that rules may weigh.

Programs count in words of their own; what they share is a counter that rises. The first line of a counter and the last
ones that rose become events, so that it can be told whether the program went on after something else was printed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._context import Context
from ncdiag.parsers._events import Collector, Found

_BAR_EVENT, _STEP_EVENT = "progress-bar", "progress-step"
EVENTS = {_BAR_EVENT: {"done": "int", "total": "int"}, _STEP_EVENT: {"counter": "str", "counted": "float"}}
"""Events that are told by the form of a line, and the types of their fields."""
KEPT_RISES = 3
"""Lines of a counter that are kept from its end: so many must follow a fault before the program went on after it."""

_BAR = lazy_regex(r"[^|]{0,80}?\d{1,3}%\|[^|]{0,400}\|\s?(?P<done>\d{1,9})/(?P<total>\d{1,9}) \[")
"""tqdm: ``Epoch 1:   0%|          | 0/16 [00:00<?, ?it/s]``."""
_SIGNS = ("poch", "POCH", "tep", "STEP", "ter", "ITER", "atch", "pdate", "amples")
_STEP = lazy_regex(
    r"(?<![A-Za-z])(?P<counter>(?:global|train|training|current|consumed)?[_ ]?"
    r"(?:epoch|step|iter(?:ation)?|batch|update|samples))(?:[_ ]?(?:num|number|count|idx|id))?s?\b"
    r"[\"']?[\s:=\[(#|,]{1,12}(?P<counted>\d{1,12}(?:\.\d{1,9})?)(?![\d.]*[A-Za-z%])",
    re.IGNORECASE,
)
"""``iteration   120/ 5000 |``, ``Epoch[3] Batch [480-500]``, ``'epoch': 2``, ``global_step=1200``."""
_OF = lazy_regex(r"\[\s{0,12}(?P<counted>\d{1,9})\s?/\s?\d{1,9}\]")
"""``Train [ 160/4572]``."""
_DIGIT = lazy_regex(r"\d")
_BAR_COUNTER = "bar"
_SAVES = "checkpoint-save-begun"
"""If this event was found, a counter that is printed only once is kept too: it shows that the saving is over."""
_OF_A_SAVE = lazy_regex(r"(?i)\bsav(?:e|ing)\b|checkpoint")
_LOOKED_AT = 1000
_ENDS = 1000
"""Lines with a counter that are read from the begin of a text, and as many from its end."""


class Progress:
    """Of the bars of a section the last state counts, of its counters the first line and the last that rose."""

    def __init__(self, collector: Collector) -> None:
        """``collector`` gathers the events of the section."""
        self._collector = collector
        self._bar: tuple[int, Found, Context, str] | None = None
        self._counted: dict[tuple[str, int | None], float] = {}
        self._done: set[tuple[object, ...]] = set()
        self._latest: float | None = None
        self._first: tuple[int, Found, Context, str] | None = None
        self._alone: tuple[int, Found, Context, str] | None = None
        self._rises: deque[tuple[int, Found, Context, str]] = deque(maxlen=KEPT_RISES)
        self._begun: list[tuple[int, Context, str]] = []
        self._late: deque[tuple[int, Context, str]] = deque(maxlen=_ENDS)

    def see(self, index: int, context: Context, text: str) -> bool:
        """Take a line that is not a message; tell whether it is a bar or a counter."""
        text = text[:_LOOKED_AT]
        bar = _BAR.match(text) if "%|" in text else None
        if bar is not None and int(bar["total"]):
            done = Found(_BAR_EVENT, "app", "fact", {"done": int(bar["done"]), "total": int(bar["total"])})
            self._bar = index, done, context, text
        elif not _may_count(text):
            return False
        self._collector.counted += 1
        (self._begun if len(self._begun) < _ENDS else self._late).append((index, context, text))
        return True

    def _count(self, index: int, context: Context, text: str, found: list[tuple[str, float]]) -> None:
        """Keep the line when a counter of its rank has another value than before: each epoch and each bar counts anew.

        Of a counter that a line names twice ("between step 200 and step 400"), the first value counts.
        """
        values = dict(reversed(found))
        if self._is_done_before((context.rank, *values.items()), context.time) and _BAR_COUNTER not in values:
            return
        for counter, counted in values.items():
            place = counter, context.rank
            before = self._counted.get(place)
            self._counted[place] = counted
            if before == counted or (before is None and _OF_A_SAVE.search(text)):
                continue
            seen = index, Found(_STEP_EVENT, "app", "fact", {"counter": counter, "counted": counted}), context, text
            if before is None:
                self._alone = seen
            else:
                self._first = self._first or seen
                if not self._rises or self._rises[-1][0] != index:
                    self._rises.append(seen)

    def _is_done_before(self, values: tuple[object, ...], time: float | None) -> bool:
        """True if an earlier line has all these values, and this one is not later by its time.

        It is of another rank then, whose log is below that of the first, or of a run that does again what it lost.
        """
        known, latest = values in self._done, self._latest
        if time is not None and (latest is None or time > latest):
            self._latest = time
            known = known and latest is None
        self._done.add(values)
        return known

    def finish(self) -> None:
        """Hand over what counts."""
        for index, context, text in (*self._begun, *self._late):
            self._count(index, context, text, list(_counters(text)))
        kept = [self._first, *self._rises] if self._first not in self._rises else list(self._rises)
        if self._first is None and self._collector.holds(_SAVES):
            kept = [self._alone]
        for seen in [self._bar, *kept]:
            if seen is not None:
                self._collector.add(*seen)


def counts(text: str) -> bool:
    """Is the line, which is not a message, a bar or a counter?"""
    text = text[:_LOOKED_AT]
    return ("%|" in text and _BAR.match(text) is not None) or _may_count(text)


def _may_count(text: str) -> bool:
    counted = any(map(text.__contains__, _SIGNS)) and _DIGIT.search(text) is not None
    return counted or ("/" in text and _OF.search(text) is not None)


def _counters(text: str) -> Iterator[tuple[str, float]]:
    """The counters that a line names, with their values; a bar has one of its own."""
    bar = _BAR.match(text) if "%|" in text else None
    if bar is not None and int(bar["total"]):
        yield _BAR_COUNTER, int(bar["done"])
        return
    if any(map(text.__contains__, _SIGNS)):
        for found in _STEP.finditer(text):
            yield found["counter"].strip(" _").lower(), float(found["counted"])
    if "/" in text and (of := _OF.search(text)) is not None:
        yield "of", float(of["counted"])
