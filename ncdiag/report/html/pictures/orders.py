"""Draw the rings that NCCL printed: the ranks in order, coloured by host, and what connects a host with the next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.engine.fields import read
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Ring, Wire, Wiring
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted, cut
from ncdiag.report.drawing import Box
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, box, legend, line, svg, words
from ncdiag.report.html.drawing import cut as fit
from ncdiag.report.html.element import Child, element
from ncdiag.report.html.pictures.wiring import host_of, size

COMMUNICATORS, RINGS = 3, 8
"""Maximum number of communicators whose rings are drawn, and of different rings of each."""
SINGLE = 24
"""Maximum number of ranks with one box each; in a larger ring, successive ranks on one host share a box."""
STOPS = 24
"""Maximum number of boxes of a ring."""
HOSTS = 6
"""Number of colours for hosts; if there are more hosts, colours repeat and the legend is left out."""
_LABEL, _HIGH, _BELOW, _ARROW = 170.0, 26.0, 22.0, 26.0
_RANK, _HOST, _TRANSPORT = 40.0, 130.0, 130.0
_LINE = 1030.0
"""Width in pixels after which a ring continues on the next line."""
_NAME = 60


class Stop(NamedTuple):
    """Successive ranks on one host; ``by`` is the connection of the last one to the next rank."""

    ranks: tuple[int, ...]
    host: str | None
    by: str
    crosses: bool


def drawn(view: View, context: Context) -> Iterator[Child]:
    """The rings of the largest communicators; equal rings are drawn once."""
    found: tuple[Wiring, ...] = read(view.job, "wirings", view) or ()
    alike: dict[object, Wiring] = {}
    for one in found:
        if one.rings:
            alike.setdefault((one.nranks, one.rings), one)
    for one in list(alike.values())[:COMMUNICATORS]:
        hosts, wires = host_of(one), {(wire.source, wire.target): wire for wire in one.wires}
        colours = {host: place % HOSTS for place, host in enumerate(dict.fromkeys(hosts.values()))}
        rings = [(_label(ring), list(_stops(ring, hosts, wires)), ring) for ring in one.rings[:RINGS]]
        told = [_in_words(label, stops, ring) for label, stops, ring in rings]
        title = say("Rings of the communicator of {ranks}", ranks=size(one))
        yield element("h4", title)
        yield svg(context, title, say(" ").join(told), *_picture(rings, colours))
        if len(colours) <= HOSTS:
            yield legend((Cell("", f"host h{colour}"), cut(host, _NAME)) for host, colour in colours.items())
        yield element(
            "details", element("summary", say("In words")), element("ul", *(element("li", each) for each in told))
        )
        if len(one.rings) > RINGS:
            things = counted(len(one.rings) - RINGS, "more order")
            yield element("p", say("{things} not drawn.", things=things), class_="quiet")


def _label(ring: Ring) -> str:
    if ring.channel is None:
        return say("all rings")
    name = say("channel {n}", n=ring.channel)
    more = (ring.channels or 1) - 1
    return say("{text} and {n} more", text=name, n=more) if more > 0 else name


def _stops(ring: Ring, hosts: Mapping[int, str], wires: Mapping[tuple[int, int], Wire]) -> Iterator[Stop]:
    """One stop per rank of a short ring, else one per sequence of ranks on one host."""
    order = ring.order
    after = [*order[1:], order[0] if ring.whole else None]
    single = len(order) <= SINGLE
    row: list[int] = []
    for rank, following in zip(order, after, strict=True):
        row.append(rank)
        here, there = hosts.get(rank), hosts.get(following) if following is not None else None
        goes_on = following is not None and here is not None and here == there and rank != order[-1]
        if goes_on and not single:
            continue
        by = "" if following is None else _transport(wires.get((rank, following)))
        yield Stop(tuple(row), here, by, crosses=following is not None and (here is None or here != there))
        row = []


def _transport(wire: Wire | None) -> str:
    """``NET/IB/GDRDMA, NIC 0``; empty if unknown."""
    if wire is None:
        return ""
    name = " + ".join(dict.fromkeys((*wire.sent, *wire.received)))
    nics = fold_ranks(wire.source_nics)
    return say("{text}, NIC {n}", text=name, n=nics) if nics else name


def _ranks(stop: Stop) -> str:
    """``0-7``; for ranks that are not consecutive, the first and last."""
    ranks = stop.ranks
    steps = {later - earlier for earlier, later in itertools.pairwise(ranks)}
    if len(ranks) < 3 or steps == {1}:  # noqa: PLR2004  (two have no order to be shown)
        return fold_ranks(ranks) if steps == {1} else say(", ").join(map(str, ranks))
    return f"{ranks[0]} .. {ranks[-1]}"


def _in_words(label: str, stops: Sequence[Stop], ring: Ring) -> str:
    """A sentence for a ring."""
    pieces = []
    for stop in stops[:STOPS]:
        name = say("rank {ranks}" if len(stop.ranks) == 1 else "ranks {ranks}", ranks=_ranks(stop))
        place = say("{text} ({note})", text=name, note=cut(stop.host, _NAME)) if stop.host is not None else name
        pieces.append(say("{text} by {way}", text=place, way=cut(stop.by, _NAME)) if stop.by else place)
    if len(stops) > STOPS:
        pieces.append(say("{n} more", n=len(stops) - STOPS))
    end = say("back to rank {n}", n=ring.order[0]) if ring.whole else say("the rest was not reported")
    return say("{label}: {text}.", label=label, text=say("; ").join([say(" to ").join(pieces), end]))


def _picture(
    rings: Sequence[tuple[str, Sequence[Stop], Ring]], colours: Mapping[str, int]
) -> tuple[tuple[float, float], list[Child]]:
    shapes: list[Child] = []
    top, right = 4.0, _LABEL
    for label, stops, ring in rings:
        shapes.append(words(0, top + 17, fit(label, _LABEL)))
        left = _LABEL
        wide = _RANK if all(len(stop.ranks) == 1 for stop in stops) else _HOST
        for stop in stops[:STOPS]:
            arrow = _TRANSPORT if stop.crosses and stop.by else _ARROW
            if left > _LABEL and left + wide + arrow > _LINE:
                left, top = _LABEL, top + _HIGH + _BELOW
            colour = colours.get(stop.host) if stop.host is not None else None
            style = "more" if colour is None else f"host h{colour}"
            about = say("rank {ranks}" if len(stop.ranks) == 1 else "ranks {ranks}", ranks=_ranks(stop))
            if stop.host is not None:
                about = say("{text} ({note})", text=about, note=cut(stop.host, _NAME))
            shapes.append(box(Box(left, top, wide, _HIGH), style, about))
            name = _ranks(stop) if wide == _RANK else say("{host}: {ranks}", host=stop.host or "?", ranks=_ranks(stop))
            shapes.append(words(left + wide / 2, top + 17, fit(name, wide), anchor="middle"))
            left += wide
            shapes += _arrow(left, left + arrow, top + _HIGH / 2, stop)
            left += arrow
            right = max(right, left)
        shapes.append(words(left + 2, top + 17, str(ring.order[0]) if ring.whole and len(stops) <= STOPS else "…"))
        right = max(right, left + 40)
        top += _HIGH + _BELOW
    return (right, top), shapes


def _arrow(left: float, right: float, y: float, stop: Stop) -> Iterator[Child]:
    style = "arrow across" if stop.crosses else "arrow"
    yield line((left + 3, y), (right - 6, y), style, stop.by or say("transport not reported"))
    yield element("path", d=f"M{right - 9:g} {y - 4:g} l6 4 l-6 4 z", class_="head")
    if stop.crosses and stop.by:
        short = stop.by.replace("NET/", "").replace("/GDRDMA", " GDR")
        yield words((left + right) / 2, y - 5, fit(short, right - left - 8), anchor="middle")
