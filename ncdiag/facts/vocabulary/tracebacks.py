"""Lines above another one in the same text, such as the frames of its traceback."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.places import place


def events_above(event: Event, view: View, name: str, within: int) -> Sequence[Event]:
    """The events of this name that are at most ``within`` lines above the event in the same text, from the top."""
    at = place(event)
    if at is None:
        return ()
    lines = view.remembered(("lines of", name), lambda: _lines(view.events_named(name))).get(at[0], ())
    first, end = (bisect.bisect_left(lines, line, key=_line) for line in (at[1] - within, at[1]))
    return [other for _, other in lines[first:end]]


def _lines(events: Sequence[Event]) -> Mapping[str, Sequence[tuple[int, Event]]]:
    """The events with their lines, by text."""
    found: dict[str, list[tuple[int, Event]]] = defaultdict(list)
    for event in events:
        seen = place(event)
        if seen is not None:
            found[seen[0]].append((seen[1], event))
    return {source: sorted(lines, key=_line) for source, lines in found.items()}


def _line(entry: tuple[int, Event]) -> int:
    return entry[0]
