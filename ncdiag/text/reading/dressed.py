"""What is around nearly all lines of a long source: found at its beginning, and taken off buffer by buffer.

A paste is searched block by block (`ncdiag.text.sections.undress`), and read many times for it. A long source is one
tool's: only what is on nearly all of its first lines comes off. Line numbers are certain; whether the lines say more
without anything else is asked of a sample, at most twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from ncdiag.text.sections.frames import SIDES, Frame, Numbers, numbers_of
from ncdiag.text.sections.heads import HEADS, Head
from ncdiag.text.sections.line import Line, lines_of
from ncdiag.text.sections.undress import Said, gain, typical

LINES = 160
"""Lines that show what is on all of them, and lines that are read to see whether they say more without it."""
_DEPTH = 3
"""Layers on top of each other."""
_READ = 2
"""Layers without which a sample is read."""
_NEARLY_ALL = 9
"""Lines with a layer for each without it."""

Layer = Numbers | Head | Frame
Read = Callable[[Sequence[Line]], frozenset[Said]]
"""What lines say."""

_SURE = tuple(
    head for head in HEADS if head.sure and not (head.again or head.proven or "(?P<fact>" in head.pattern.pattern)
)
"""Heads that nothing else looks like. One that names a rank stays: it is read with the line."""
_HELD: tuple[Head | Frame, ...] = (*_SURE, SIDES)


class Clothes(msgspec.Struct, frozen=True):
    """The layers of nearly all lines of a source, outermost first, and the host that they name."""

    layers: tuple[Layer, ...]
    host: str | None = None

    def taken_off(self, buffers: Iterable[bytes]) -> Iterator[bytes]:
        """The buffers with as many lines, each without the layers that it has; times stay in front."""
        for buffer in buffers:
            lines = buffer.decode("utf-8", "replace").split("\n")
            yield "\n".join(map(self._bare, lines)).encode("utf-8", "replace")

    def _bare(self, text: str) -> str:
        line = Line(0, text)
        for layer in self.layers:
            (line,) = layer.removed([line])
        return line.head + line.text


def clothes_of(begin: str, read: Read) -> Clothes | None:
    """What is on nearly all lines of a source with this beginning; None for nothing."""
    lines, layers, tries = lines_of(begin), list[Layer](), _READ
    for _ in range(_DEPTH):
        middle = max(0, len(lines) - LINES) // 2
        texts = [line.text for line in lines[middle : middle + LINES]]
        layer: Layer | None = numbers_of(texts, _NEARLY_ALL)
        layer = layer or next((each for each in _HELD if _is_on(each, texts)), None)
        if layer is None:
            break
        bare = layer.removed(lines)
        if not isinstance(layer, Numbers):
            several = any(line.stream for line in bare)  # the processes whose lines these are would be mixed up
            if several or not tries or not _says_more(lines, bare, read, sure=layer.sure):
                break
            tries -= 1
        layers.append(layer)
        lines = bare
    hosts = {line.host for line in lines if line.host}
    return Clothes(tuple(layers), hosts.pop() if len(hosts) == 1 else None) if layers else None


def _is_on(layer: Head | Frame, texts: Sequence[str]) -> bool:
    """True if nearly all lines have the layer."""
    written = [text for text in texts if text.strip()]
    carrying = sum(layer.pattern.match(text) is not None for text in written)
    return carrying > 1 and _NEARLY_ALL * (len(written) - carrying) <= carrying


def _says_more(lines: Sequence[Line], bare: Sequence[Line], read: Read, *, sure: bool) -> bool:
    """True if a sample of the lines says more without a layer, or not less where nothing else can be meant."""
    few = typical(lines)
    before = [line for line in lines if line.number in few][:LINES]
    after = [Line(line.number, line.head + line.text) for line in bare if line.number in few][:LINES]
    return gain(read(after), read(before)) + sure > 0
