"""Draw when the hosts met, which communicators they set up, and what failed first, on one time line per host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.agent.look import natural
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import clock_offsets, shared_time
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.language import say
from ncdiag.messages.vocabulary.seen import first_hand, is_end
from ncdiag.report.digest import counted, cut
from ncdiag.report.drawing import Box
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, box, legend, line, picture, svg, words
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.html.pictures import setups

LANES = 16
"""Maximum number of hosts that are drawn: those that fail first, then by name."""
_STEPS = {
    "comm-nodes": "setup", "connected-rings": "setup", "connected-trees": "setup", "init-timings": "ready",
    "comm-ended": "over",
}  # fmt: skip
"""NCCL lines that mark the progress of a host (src/init.cc)."""
_MEANINGS = {
    "setup": "a step of the setup", "ready": "setup completed", "over": "communicator destroyed", "failure": "failed",
    "echo": "failed because of others", "ended": "a process ended", **setups.MEANINGS,
}  # fmt: skip
_LABEL, _WIDTH, _ROW, _TOP = 150.0, 780.0, 26.0, 26.0
_TICKS = (0.001, 0.01, 0.1, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
"""Possible distances between the marks of the axis, in seconds."""
_MARKS = 10


class Mark(NamedTuple):
    """An event on a host, in seconds after the first one; ``lines`` lines report it."""

    host: str
    seconds: float
    kind: str
    text: str
    lines: int


def marks(view: View, before: float = float("inf")) -> tuple[float, list[Mark]]:
    """The time at which the axis begins, and events with a time, in order.

    The same event of a host within a second is one mark. ``before``: a time that is on the axis as well.
    """
    failures = [event for event in view.job.events if event.time is not None and is_open_failure(event, view)]
    own = {id(event) for event in first_hand(failures, view)} if failures else set()
    timed: dict[tuple[str, str, int], list[tuple[float, Event]]] = defaultdict(list)
    for event in view.job.events:
        time = shared_time(event, view)
        kind = _kind(event, own, failing=time is not None and is_open_failure(event, view))
        if time is not None and kind:
            timed[event.host or UNNAMED, kind, int(time)].append((time, event))
    begin = min((time for events in timed.values() for time, _ in events), default=before)
    begin, found = min(begin, before), []
    for (host, kind, _), events in timed.items():
        time, first = min(events, key=lambda one: (one[0], one[1].order))
        found.append(Mark(host, time - begin, kind, " ".join(first.text.split()), len(events)))
    return begin, sorted(found, key=lambda mark: (mark.seconds, mark.host))


def _kind(event: Event, own: set[int], *, failing: bool) -> str | None:
    if failing:
        return "ended" if is_end(event) else "failure" if id(event) in own else "echo"
    return _STEPS.get(event.event)


def draw(view: View, context: Context) -> Element | None:
    """The time lines; None unless something failed or was not complete, and two things have a time."""
    bars = setups.bars(view)
    begin, found = marks(view, min((bar.begin for bar in bars), default=float("inf")))
    went_wrong = any(mark.kind in {"failure", "echo", "ended"} for mark in found) or any(not bar.end for bar in bars)
    if len(found) + len(bars) < 2 or not went_wrong:  # noqa: PLR2004
        return None
    firsts: dict[str, float] = {}
    for mark in found:
        if mark.kind in {"failure", "ended"}:
            firsts.setdefault(mark.host, mark.seconds)
    lanes = sorted({mark.host for mark in found}, key=lambda host: (firsts.get(host, float("inf")), natural(host)))
    shown = lanes[:LANES]
    span = max([*(mark.seconds for mark in found), *((bar.end or bar.begin) - begin for bar in bars)])
    sentences = [
        say("{time} from the first line with a timestamp to the last.", time=_time(span)),
        say("Clock offsets were estimated from lines that all ranks print at the same moment.")
        if clock_offsets(view.job, view) else say("Times are from the clock of each host."),
    ]  # fmt: skip
    if len(lanes) > len(shown):
        sentences.append(say("{things} not drawn.", things=counted(len(lanes) - len(shown), "more host")))
    told = say(" ").join(sentences)
    texts = [_sentence(mark) for mark in found if mark.kind != "setup" and mark.host in shown][:LANES]
    texts += [setups.sentence(bar) for bar in bars if bar.end is None]
    size, shapes = _shapes(found, shown, span, bars, begin)
    kinds = {*(mark.kind for mark in found), *(bar.kind for bar in bars)}
    return picture(
        context,
        say("From setup to the first error"),
        told,
        svg(context, say("Timeline of the job"), say(" ").join((told, *texts)), size, shapes),
        legend((Cell("", f"mark {kind}"), say(text)) for kind, text in _MEANINGS.items() if kind in kinds),
        element(
            "details", element("summary", say("In words")), element("ol", *(element("li", text) for text in texts))
        ),
    )


def _sentence(mark: Mark) -> str:
    what = say(_MEANINGS[mark.kind])
    if mark.lines > 1:
        what = say("{text} ({note})", text=what, note=counted(mark.lines, "line"))
    label = say(", ").join((_time(mark.seconds), _host(mark), what))
    return say("{label}: {text}.", label=label, text=cut(mark.text, 160))


def _host(mark: Mark) -> str:
    return say("a host") if mark.host == UNNAMED else mark.host


def _shapes(
    found: list[Mark], lanes: list[str], span: float, bars: list[setups.Bar], begin: float
) -> tuple[tuple[float, float], list[Child]]:  # fmt: skip
    below = _TOP + len(lanes) * _ROW
    height = below + len(bars) * _ROW + 4
    edges = _LABEL, _LABEL + _WIDTH
    drawn = setups.lanes(bars, begin, span, top=below, row=_ROW, edges=edges, x_of=_x)
    return (_LABEL + _WIDTH + 30, height), [*_axis(span, height), *_lanes(found, lanes, span), *drawn]


def _x(seconds: float, span: float) -> float:
    return _LABEL + 8 + (_WIDTH - 16) * (seconds / span if span else 0.5)


def _axis(span: float, height: float) -> Iterator[Child]:
    step = next((tick for tick in _TICKS if span / tick <= _MARKS), max(span / _MARKS, _TICKS[-1]))
    for number in range(int(span / step) + 1):
        x = _x(number * step, span)
        yield line((x, _TOP - 6), (x, height), "grid")
        yield words(x, 14, _time(number * step), anchor="middle")


def _lanes(found: list[Mark], lanes: list[str], span: float) -> Iterator[Child]:
    for place, host in enumerate(lanes):
        middle = _TOP + place * _ROW + _ROW / 2
        mine = [mark for mark in found if mark.host == host]
        yield words(0, middle + 4, cut(_host(mine[0]), 20))
        yield line((_LABEL, middle), (_LABEL + _WIDTH, middle), "grid")
        for mark in mine:
            x = _x(mark.seconds, span)
            yield box(Box(x - 4, middle - 8, 8, 16), f"mark {mark.kind}", _sentence(mark))


def _time(seconds: float) -> str:
    """``0 s``, ``90 s``, ``25 min``, ``3.5 h``."""
    if seconds < 120:  # noqa: PLR2004
        return say("{n} s", n=f"{seconds:.3g}")
    if seconds < 7200:  # noqa: PLR2004
        return say("{n} min", n=f"{seconds / 60:.3g}")
    return say("{n} h", n=f"{seconds / 3600:.3g}")
