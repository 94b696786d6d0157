"""Long work of one process as logs show it: that a save, an evaluation or a preparation began and ended.

The length is printed (``saved checkpoint in 687.2 s``, the elapsed time of a bar of tqdm whose name says what it does),
or it is the time between the line that says that work begins and the one that says that it is done, or that the
process went on: the next of its steps. Of each sort of work of a rank the longest counts, and the last, which may not
have ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.model.told import Spell
from ncdiag.facts.observe import Observation, observe
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.stamps import DAY
from ncdiag.formats.units import unit_seconds
from ncdiag.formats.work_words import work_of
from ncdiag.parsers._context import Context, wall_of
from ncdiag.parsers._prose import is_prose

_LOOKED_AT, _KEPT = 400, 400
MAY_TELL = guarded_regex(
    r"(?i)sav(?:e|ing)|checkpoint|ckpt|evaluat|validat|tokeni[sz]|compil|captur|download|fetching|loading|weights"
    r"|\bmap\b|packing|generating|indices|%\|"
)
"""May a line be about work? Few lines are."""
_OBJECT = guarded_regex(
    r"checkpoint|ckpt|model|weights|\bstate\b|optimizer|shard|data-?\s?set|\bdata\b|token|evaluat|validat|torch\.compile"
    r"|compil|graph|rollout|\btexts?\b",
    re.IGNORECASE,
)
"""What is worked on; other programs save and fetch as well."""
_BAR = lazy_regex(
    r"(?P<name>[^|]{2,80}?)\d{1,3}%\|[^|]{0,400}\|\s?\S{1,20}/\S{1,20} \["
    r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d\d):(?P<seconds>\d\d)<"
)
"""tqdm: ``Map (num_proc=16): 100%|##########| 1200000/1200000 [34:12<00:00, 584.80 examples/s]``."""
_ENDLESS = lazy_regex(
    r"(?P<name>[A-Za-z][^|\[]{2,80}?): \d{1,12} ?[a-z]{1,20} \["
    r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d\d):(?P<seconds>\d\d), "
)
"""tqdm without a total: ``Generating train split: 1200000 examples [34:12, 584.80 examples/s]``."""
_TOOK = lazy_regex(
    r"(?:\b(?:in|took|takes|taken|time|elapsed|after|duration|for|cost)\b[^.,;\d]{0,20}|[:=(]\s?)(?P<number>\d{1,6}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b",
    re.IGNORECASE,
)
_BEGINS = guarded_regex(
    r"\b(?:saving|writing|dumping|evaluating|validating|tokeni[sz]ing|pre-?processing|packing|preparing|downloading|fetching|compiling"
    r"|capturing|loading|generating|building|converting)\b"
    r"|\b(?:start(?:s|ed|ing)?|begin(?:s|ning)?|began|running)\b",
    re.IGNORECASE,
)
_ENDS = guarded_regex(
    r"\b(?:saved|written|wrote|evaluated|validated|tokeni[sz]ed|downloaded|compiled|captured|loaded|done|finish(?:ed|es)?|completed?"
    r"|ended|ends|took|takes)\b",
    re.IGNORECASE,
)
_ASYNC = lazy_regex(r"\b(?:async|background|scheduled|skip|will\b|next|every|interval|config|disabled)", re.IGNORECASE)
"""Work that the process does not wait for, and lines about work that is only planned."""
_LEAST = 30
"""Seconds below which work holds up nobody."""


class _Begun(msgspec.Struct):
    """Work that began: the index of its line and its moment in seconds since the epoch."""

    index: int
    at: float


class _Done(msgspec.Struct):
    """Work that ended, or was seen to last: the index of the line, its seconds, and its moments where known."""

    index: int
    seconds: float
    begun: float | None = None
    ended: float | None = None


Key = tuple[Spell, int | None]


def tells(text: str) -> bool:
    """Does a line, without its prefixes, say that long work began or ended? Bars are read as counters."""
    text = text[:_LOOKED_AT]
    if "%|" in text or _of(text) is None:
        return False
    took = _TOOK.search(text)
    return took is None or (took["unit"].lower() != "ms" and _seconds(took) >= _LEAST)


def _of(text: str) -> Spell | None:
    """The work that begins or ends by a line."""
    named = _OBJECT.search(text) and (_BEGINS.search(text) or _ENDS.search(text)) and not _ASYNC.search(text)
    return work_of(text) if named else None


class Works:
    """Gathers the work that the lines of a section show."""

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self._section = section
        self._open: dict[Key, _Begun] = {}
        self._longest: dict[Key, _Done] = {}

    def see(self, index: int, context: Context, text: str) -> bool:
        """Take a line without its prefixes; tell whether it is about work."""
        text = text[:_LOOKED_AT]
        bar = _BAR.match(text) if "%|" in text else _ENDLESS.match(text)
        if bar is not None:
            of = work_of(bar["name"])
            if of is not None:
                clock = (int(bar[name] or 0) for name in ("hours", "minutes", "seconds"))
                seconds = sum(part * factor for part, factor in zip(clock, (3600, 60, 1), strict=True))
                self._end(of, context.rank, _Done(index, float(seconds), ended=wall_of(self._section, index)))
            return of is not None
        of = _of(text)
        return of is not None and self._line(of, index, context, text)

    def _line(self, of: Spell, index: int, context: Context, text: str) -> bool:
        moment, took = wall_of(self._section, index), _TOOK.search(text)
        if moment is None and context.rank is None and context.level is None and is_prose(text):
            return False  # a person says so
        key = of, context.rank
        if _ENDS.search(text):
            begun = self._open.get(key)
            if took is not None:
                self._end(of, context.rank, _Done(index, _seconds(took), ended=moment))
            elif begun is not None and moment is not None:
                self._close(key, moment)
            return took is not None or begun is not None
        if moment is not None:
            self._open.setdefault(key, _Begun(index, moment))
        return moment is not None

    def went_on(self, index: int, context: Context) -> None:
        """The process of the line counts on: what it did is over by then."""
        held = [key for key in self._open if key[1] == context.rank]
        moment = wall_of(self._section, index) if held else None
        for key in held:
            if moment is None:
                del self._open[key]
            else:
                self._close(key, moment)

    def _close(self, key: Key, moment: float) -> None:
        begun = self._open.pop(key)
        lasted = moment - begun.at
        lasted += DAY if lasted < 0 and moment < DAY else 0  # clocks without a date, over midnight
        self._end(*key, _Done(begun.index, lasted, begun.at, begun.at + lasted))

    def _end(self, of: Spell, rank: int | None, done: _Done) -> None:
        self._open.pop((of, rank), None)
        if done.begun is None and done.ended is not None:
            done.begun = done.ended - done.seconds
        held = self._longest.get((of, rank))
        if held is None or done.seconds >= held.seconds:
            self._longest[of, rank] = done

    def observations(self) -> Iterator[Observation]:
        """A `Duration` for the longest work of each sort and rank, and for each that did not end."""
        for (of, rank), done in self._longest.items():
            yield self._observed(of, rank, done.index, seconds=done.seconds, begun=done.begun, ended=done.ended)
        for (of, rank), begun in self._open.items():
            yield self._observed(of, rank, begun.index, begun=begun.at)

    def _observed(self, of: Spell, rank: int | None, index: int, **moments: float | None) -> Observation:
        text = self._section.lines[index][:_KEPT]
        known: dict[str, Any] = {name: value for name, value in moments.items() if value is not None}
        return observe(self._section, index, "Duration", of=of, rank=rank, told=False, text=text, **known)


def _seconds(took: re.Match[str]) -> float:
    return float(took["number"]) * unit_seconds(took["unit"])
