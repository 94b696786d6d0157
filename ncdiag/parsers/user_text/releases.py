"""Releases in sentences: since which one it fails, and than which one it is slower."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text.changes import LESS_MORE
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.words import Token

BROKE = lazy_regex(
    r"(?:breaks|broke|broken)$|regress|bisect|commit$|\b(?:appear\w*|start\w*|beg[aiu]n\w*|came|show\w*\sup)\b",
    re.IGNORECASE,
)
"""Outcomes that say that it was not so before."""
_SLOWER = lazy_regex(r"(?:performance|perf|bandwidth|throughput|speed|latency|busbw)\s{1,3}$", re.IGNORECASE)
_OPPOSITE = {"faster": "slower", "slower": "faster"}


def is_release(change: Change) -> bool:
    """True for a release, or another release than before."""
    return change.unit in RELEASED or change.label.startswith(("older-", "newer-", "other-"))


def since(change: Change, *, regressed: bool, broke: bool) -> Change | None:
    """The release since which it fails, as the newer one; None for any other change."""
    if change.label.startswith("newer-"):
        return change if regressed or broke else None
    counts = change.unit in RELEASED and not change.without and ((regressed and change.since) or broke)
    return Change(LESS_MORE[change.unit][1]) if counts else None


def dated(changes: list[tuple[Change, Token]], tokens: list[Token]) -> list[tuple[Change, Token]]:
    """The changes; a release after ``since`` or ``before`` is marked."""
    found: list[tuple[Change, Token]] = []
    for change, token in changes:
        earlier = [t for t in tokens if t.start < token.start and t.kind not in {"act", "thing", "tried"}]
        is_since = bool(earlier) and earlier[-1].kind in {"since", "before"} and change.unit in RELEASED
        found.append((msgspec.structs.replace(change, since=True) if is_since else change, token))
    return found


def of_onset(own: Iterable[Change], unit: str, before: str) -> list[Change]:
    """The releases of a regression; without one, the newer one of what was spoken of, or of something not named.

    A regression of performance (the word is the last one ``before`` it) without a release is a loss of speed: it stays
    with what it was said of.
    """
    own = list(own)
    if _SLOWER.search(before) is not None:
        return own
    known = [change for change in own if is_release(change)]
    return known or [Change(LESS_MORE[unit if unit in RELEASED else "release"][1])]


def than(outcome: str, own: Iterable[Change], others: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """What is said of the releases after ``than``: the contrary, if they count the same as those before it."""
    if outcome not in _OPPOSITE:
        return
    units = {change.unit for change in own if change.unit} & {*RELEASED} or {*RELEASED}
    yield from ((change, _OPPOSITE[outcome]) for change in others if change.unit in units or change.label)
