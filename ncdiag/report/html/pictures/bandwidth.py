"""The curve of nccl-tests: bus bandwidth by message size, with the limits of the links and the GPUs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.engine.fields import read
from ncdiag.facts.model import Benchmark
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, legend, line, picture, scrolled, svg, words
from ncdiag.report.html.element import Child, Element, element

SHOWN = 4
"""Maximum number of runs that are drawn."""
POINTS = 64
"""Maximum number of sizes of a run that are drawn."""
_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 64.0, 14.0, 760.0, 260.0, 44.0
_STEPS = 5
_UNITS = ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"), (1, ""))
_BOUNDS = (
    ("limit_gbs", "limit", "limit of the network of one host"),
    ("in_node_floor", "floor", "minimum expected from these GPUs in one host"),
    ("accepted_gbs", "accepted", "minimum that the cloud provider expects"),
    ("mesh_limit_gbs", "limit", "limit of this GPU mesh"),
    ("tested_gbs", "tested", "measured by link tests"),
)
"""Fields of a benchmark in GB/s, the style of their line, and their meaning."""


class Curve(NamedTuple):
    """A run: points (size in bytes, GB/s) out of place and in place; ``bounds`` are (style, meaning, GB/s)."""

    name: str
    outside: list[tuple[int, float]]
    inside: list[tuple[int, float]]
    bounds: list[tuple[str, str, float]]


def curves(view: View) -> list[Curve]:
    """The runs with at least two sizes."""
    found = [_curve(run, number, view) for number, run in enumerate(view.job.benchmarks, 1)]
    return [curve for curve in found if len(curve.outside) > 1]


def _curve(run: Benchmark, number: int, view: View) -> Curve:
    rows = sorted(run.rows, key=lambda row: row.size)[-POINTS:]
    told = [(style, say(text), read(run, field, view)) for field, style, text in _BOUNDS]
    return Curve(
        say(", ").join(
            filter(None, [run.program or say("Run {n}", n=number), counted(run.nranks, "rank") if run.nranks else ""])
        ),
        [(row.size, row.busbw) for row in rows if row.busbw is not None and row.size > 0],
        [(row.size, row.in_place_busbw) for row in rows if row.in_place_busbw is not None and row.size > 0],
        [(style, text, value) for style, text, value in told if value],
    )


def draw(view: View, context: Context) -> Element | None:
    """A chart for each run."""
    found = curves(view)
    if not found:
        return None
    parts: list[Child] = []
    for curve in found[:SHOWN]:
        parts += _chart(curve, context)
    if len(found) > SHOWN:
        parts.append(
            element("p", say("{things} not drawn.", things=counted(len(found) - SHOWN, "more run")), class_="quiet")
        )
    told = say("Bus bandwidth by message size, with the known bounds for these machines.")
    return picture(context, say("Measured bandwidth"), told, *parts)


def _chart(curve: Curve, context: Context) -> Iterator[Child]:
    best = max(value for _, value in curve.outside)
    told = [
        say("The best size reaches {value} GB/s.", value=f"{best:g}"),
        *(say("{value} GB/s: {text}.", value=f"{value:.3g}", text=text) for _, text, value in curve.bounds),
    ]
    yield element("h4", curve.name)
    yield element("p", say(" ").join(told))
    size = (_LEFT + _WIDTH + 16, _TOP + _HEIGHT + _BELOW)
    yield svg(context, say("Bus bandwidth of {name}", name=curve.name), say(" ").join(told), size, _shapes(curve))
    keys = [(Cell("", "stroke outside"), say("out of place"))]
    keys += [(Cell("", "stroke inside"), say("in place"))] if curve.inside else []
    keys += [(Cell("", f"stroke {style}"), _bound(text, value)) for style, text, value in curve.bounds]
    yield legend(keys)
    yield element("details", element("summary", say("The sizes in a table")), _table(curve))


def _bound(text: str, value: float) -> str:
    return say("{label}: {text}", label=text, text=f"{value:.3g} GB/s")


def _shapes(curve: Curve) -> Iterator[Child]:
    sizes = [size for size, _ in (*curve.outside, *curve.inside)]
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    values = [value for _, value in (*curve.outside, *curve.inside)] + [value for *_, value in curve.bounds]
    step = _round(max(values) / _STEPS)
    most = step * math.ceil(max(values) / step) if step else 1.0

    def place(size: float, value: float) -> tuple[float, float]:
        share = (math.log2(size) - low) / (high - low) if high > low else 0.5
        return _LEFT + share * _WIDTH, _TOP + _HEIGHT * (1 - value / most)

    for number in range(round(most / step) + 1 if step else 2):
        value = number * (step or 1.0)
        y = place(min(sizes), value)[1]
        yield line((_LEFT, y), (_LEFT + _WIDTH, y), "grid")
        yield words(_LEFT - 8, y + 4, f"{value:g}", anchor="end")
    yield words(0, _TOP + _HEIGHT + 38, "GB/s")
    for size in _marked(sorted(set(sizes))):
        x = place(size, 0)[0]
        yield line((x, _TOP + _HEIGHT), (x, _TOP + _HEIGHT + 5), "grid")
        yield words(x, _TOP + _HEIGHT + 20, size_text(size), anchor="middle")
    yield words(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 38, say("message size in bytes"), anchor="middle")
    for style, text, value in curve.bounds:
        y = place(min(sizes), value)[1]
        yield line((_LEFT, y), (_LEFT + _WIDTH, y), f"stroke {style}", _bound(text, value))
    for style, points in (("inside", curve.inside), ("outside", curve.outside)):
        places = [place(*point) for point in points]
        yield element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=f"stroke {style}")
        for (x, y), (size, value) in zip(places, points, strict=True):
            way = say("in place" if style == "inside" else "out of place")
            about = say("{size}: {value} GB/s {way}", size=size_text(size), value=f"{value:g}", way=way)
            yield element("circle", element("title", about), cx=x, cy=y, r=3.5, class_=f"point {style}")


def _marked(sizes: Sequence[int]) -> Sequence[int]:
    """At most ten of the sizes, for labels."""
    return sizes[:: max(1, math.ceil(len(sizes) / 10))]


def _round(value: float) -> float:
    """The next of 1, 2, 5, 10 ... times a power of ten that is not smaller."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value * (1 - 1e-9))


def size_text(size: float) -> str:
    """``8M`` as nccl-tests takes sizes."""
    unit, letter = next((unit, letter) for unit, letter in _UNITS if size >= unit)
    return f"{size / unit:.3g}{letter}"


def _table(curve: Curve) -> Element:
    inside = dict(curve.inside)
    rows = [
        element(
            "tr", element("th", size_text(size), scope="row"), element("td", f"{value:g}"),
            element("td", f"{inside[size]:g}" if size in inside else ""),
        )
        for size, value in curve.outside
    ]  # fmt: skip
    names = (say("Size"), say("Out of place, GB/s"), say("In place, GB/s"))
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in names)))
    return scrolled(say("Sizes of {name}", name=curve.name), element("table", head, element("tbody", *rows)))
