"""The communicators on the timeline: a bar from the first rank that begins to the last one that is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.facts.vocabulary.clocks import RESOLUTION, clock_skew
from ncdiag.language import say
from ncdiag.report import accounts
from ncdiag.report.digest import cut
from ncdiag.report.drawing import Box
from ncdiag.report.html.drawing import box, line, words
from ncdiag.report.html.element import Child

BARS = 12
"""Maximum number of communicators that are drawn: those that are not complete, then the first ones."""
MEANINGS = {"formed": "setup of a communicator", "open": "setup of a communicator that is not complete"}
_THIN = 3.0


class Bar(NamedTuple):
    """A communicator in seconds since the epoch; ``end`` is None where ranks are missing to the end."""

    name: str
    begin: float
    end: float | None
    text: str

    @property
    def kind(self) -> str:
        """The key of its meaning."""
        return "open" if self.end is None else "formed"


def bars(view: View) -> list[Bar]:
    """The communicators whose beginning has a time, in that order; none where the clocks of the hosts are apart."""
    found = accounts.account(communicator_account(view.job, view), "", view.job.communicators_unlisted or 0)
    skew = clock_skew(view.job, view)
    if found is None or (skew is not None and skew > RESOLUTION):
        return []
    drawn = []
    for one in found.listed:
        missing = accounts.missing(one)
        if one.begun_at is not None and (missing or one.ready_at is not None):
            drawn.append(Bar(one.id, one.begun_at, None if missing else one.ready_at, missing or _ready(one)))
    return sorted(drawn[:BARS], key=lambda bar: bar.begin)


def _ready(one: accounts.Communicator) -> str:
    return say("complete on {ranks}", ranks=accounts.ranks_text(one.complete, one.nranks))


def lanes(  # noqa: PLR0913  (where to draw)
    drawn: Sequence[Bar], begin: float, span: float, *, top: float, row: float, edges: tuple[float, float],
    x_of: Callable[[float, float], float],
) -> Iterator[Child]:  # fmt: skip
    """A lane for each bar below ``top``; ``begin`` is the time at which the axis begins, ``edges`` are its ends."""
    for place, bar in enumerate(drawn):
        middle = top + place * row + row / 2
        yield words(0, middle + 4, cut(bar.name, 20))
        yield line((edges[0], middle), (edges[1], middle), "grid")
        left = x_of(bar.begin - begin, span)
        right = edges[1] if bar.end is None else x_of(bar.end - begin, span)
        yield box(Box(left, middle - 6, max(right - left, _THIN), 12), f"mark {bar.kind}", sentence(bar))


def sentence(bar: Bar) -> str:
    """What a bar shows."""
    return say("{label}: {text}.", label=bar.name, text=bar.text)
