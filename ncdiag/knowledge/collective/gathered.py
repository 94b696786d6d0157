"""Tensors of different shapes that ranks pass to one operation, as Accelerate's debug mode lists them."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_DIFFER, _SHAPE = "gather-shapes-differ", "gather-shape"
_NUMBERS = r"\d{1,9}(?:, \d{1,9}){0,15}"
_SHOWN = 2


@derived
def unequal_shapes(event: Event, view: View) -> str:
    """Two of the shapes, ``[2, 350] on rank 0 and [2, 311] on rank 1``; empty where the input does not list them."""
    if event.event != _DIFFER:
        return ""
    first: dict[str, int] = {}
    for number, shape in _listed(view):
        first.setdefault(shape, number)
    shown = list(first.items())[:_SHOWN]
    return " and ".join(f"[{shape}] on rank {number}" for shape, number in shown) if len(shown) == _SHOWN else ""


@derived
def padded_by(event: Event, view: View) -> str:
    """The call that makes the shapes equal; empty where tensors with other numbers of dimensions meet."""
    if event.event != _DIFFER:
        return ""
    shapes = [shape.split(", ") for _, shape in _listed(view)]
    if len({len(shape) for shape in shapes}) > 1:
        return ""
    unequal = [at for at, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    calls = [f"tensor = accelerator.pad_across_processes(tensor, dim={at})" for at in unequal]
    return "; ".join(calls) or "tensor = accelerator.pad_across_processes(tensor, dim=<the one that differs>)"


def _listed(view: View) -> list[tuple[int, str]]:
    """The number and the shape of each rank that lists one tensor."""
    found: list[tuple[int, str]] = []
    for event in view.job.events:
        number, shape = event.fields.get("process_index"), str(event.fields.get("tensor_shape", ""))
        if event.event == _SHAPE and isinstance(number, int) and re.fullmatch(_NUMBERS, shape):
            view.note(event)
            found.append((number, shape))
    return found
