"""Take off what the form of a whole paste shows, one layer after the other, without reading it in between."""

from __future__ import annotations

from collections.abc import Callable

from ncdiag.text.clothes import cells, columns, encodings

DEPTH = 4
"""Layers on top of each other."""
ROOM = 1 << 20
"""Characters; what becomes longer than this stays as it is."""

_SHORT = 200
"""Characters of a text that may be in capitals by itself."""

Layer = Callable[[str], str | None]
"""The text without the layer, or None if it has none."""

LAYERS: dict[str, Layer] = {
    "encoded text": encodings.decoded,
    "cells of a table": cells.text_of,
    "columns side by side": columns.apart,
    "lines with the newest first": columns.oldest_first,
}
"""Each layer by the words with which a note calls it."""


def taken_off(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without these layers, and a note on each that changes the numbers of the lines."""
    notes: dict[str, None] = {}
    widths: list[int] = []
    for _ in range(DEPTH):
        before = text
        for name, layer in LAYERS.items():
            bare = layer(text)
            if bare is None or len(bare) > ROOM:
                continue
            if bare.count("\n") != text.count("\n"):
                notes[f"{name}: the numbers of lines are those of the text in it"] = None
            widths += columns.cut_in(text) if layer is columns.apart else []
            text = bare
        if text == before:
            break
    width = columns.cut_at(text)
    for each in dict.fromkeys([*widths, *([width] if width and not widths else [])]):
        notes[f"lines end at column {each}: paste the file instead"] = None
    if len(text) > _SHORT and text.isupper():
        notes["all letters are capitals: paste the text as it was printed"] = None
    return text, tuple(notes)
