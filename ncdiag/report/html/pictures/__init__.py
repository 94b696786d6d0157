"""Pictures of a job, one module each, with ``draw(view, context)``, which returns None if no fact concerns it."""

from __future__ import annotations

from collections.abc import Callable

from ncdiag.base.errors import contained
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Element, element
from ncdiag.report.html.pictures import (
    bandwidth,
    communicators,
    environment,
    hosts,
    ranks,
    rings,
    timeline,
    topology,
    wiring,
)

Draw = Callable[[View, Context], Element | None]

_DRAWN: tuple[tuple[str, Draw], ...] = (
    ("topology", topology.draw),
    ("connections between hosts", hosts.draw),
    ("ranks", ranks.draw),
    ("connections between ranks", wiring.draw),
    ("rings", rings.draw),
    ("timeline", timeline.draw),
    ("communicators", communicators.draw),
    ("bandwidth", bandwidth.draw),
    ("environment", environment.draw),
)
"""The pictures, from the machine to the job."""


def pictures(view: View, context: Context) -> list[Element]:
    """All pictures for which there are facts. If one fails, a sentence replaces it, and the others are drawn."""
    found: list[Element] = []
    for name, draw in _DRAWN:
        drawn = _contained(name, draw, view, context)
        found += [drawn] if drawn is not None else []
    return found


def _contained(name: str, draw: Draw, view: View, context: Context) -> Element | None:
    try:
        return draw(view, context)
    except Exception as error:  # noqa: BLE001  (whatever the facts of a hostile input make a picture do)
        told = contained(error, say("the picture of the {name} could not be drawn", name=say(name)))
        return element("p", say("{sentence}.", sentence=told[:1].upper() + told[1:]), class_="note")
