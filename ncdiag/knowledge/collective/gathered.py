"""Tensors of different shapes that ranks pass to one operation, as Accelerate's debug mode lists them."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

_DIFFER, _SHAPE = "gather-shapes-differ", "gather-shape"
_NUMBERS = r"\d{1,9}(?:, \d{1,9}){0,15}"
_SHOWN = 2

Shapes = tuple[tuple[int, str], ...]


@derived
def unequal_shapes(event: Event, view: View) -> str:
    """Two of the shapes, ``[2, 350] on rank 0 and [2, 311] on rank 1``; empty if the input does not list two."""
    if event.event != _DIFFER:
        return ""
    shapes = gathered_shapes(view.job, view)
    return view.remembered(("unequal shapes",), lambda: _two_of(shapes))


def _two_of(shapes: Shapes) -> str:
    first: dict[str, int] = {}
    for number, shape in shapes:
        first.setdefault(shape, number)
    shown = list(first.items())[:_SHOWN]
    return " and ".join(f"[{shape}] on rank {number}" for shape, number in shown) if len(shown) == _SHOWN else ""


@derived
def padded_by(event: Event, view: View) -> str:
    """The call that makes the shapes equal; empty if they differ in their number of dimensions."""
    if event.event != _DIFFER:
        return ""
    shapes = gathered_shapes(view.job, view)
    return view.remembered(("padding of shapes",), lambda: _padding(shapes))


def _padding(listed: Shapes) -> str:
    shapes = [shape.split(", ") for _, shape in listed]
    if len({len(shape) for shape in shapes}) > 1:
        return ""
    unequal = [at for at, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    calls = [f"tensor = accelerator.pad_across_processes(tensor, dim={at})" for at in unequal]
    return "; ".join(calls) or "tensor = accelerator.pad_across_processes(tensor, dim=<the one that differs>)"


@derived
def gathered_shapes(job: Job, view: View) -> Shapes:
    """The number and the shape of each rank that lists one tensor."""
    found: list[tuple[int, str]] = []
    for event in view.events_named(_SHAPE):
        number, shape = event.fields.get("process_index"), str(event.fields.get("tensor_shape", ""))
        if isinstance(number, int) and re.fullmatch(_NUMBERS, shape):
            view.note(event)
            found.append((number, shape))
    return tuple(found)
