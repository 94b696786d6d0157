"""The picture as SVG: a box for each CPU with its GPUs and NICs, lines to the nearest NICs, the matrix below.

All positions are absolute, so that nothing overlaps for any input; every text from the input is escaped and cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from ncdiag.language import phrase, say
from ncdiag.report.drawing import LETTER, Box, cut, document, rect, write, xml
from ncdiag.report.topology.model import Device, Picture
from ncdiag.report.topology.text import cell, cpu_title, groups, meanings

WIDE, HIGH, GAP, EDGE = 96, 40, 12, 16
"""Size of a device's box, distance of boxes and margin, in pixels."""
ROW = 18
_LINES = 64
"""Height for the lines between the GPUs and the NICs."""
_COLUMN = 52
_STYLE = (
    ".cpu{fill:#f3f5f7;stroke:#8c959f}.gpu{fill:#dff3e3;stroke:#2f8f46}.nic{fill:#ddeafb;stroke:#2a64b7}"
    ".cell{fill:#fff;stroke:#d0d7de}.same{fill:#eef1f4;stroke:#d0d7de}.near{fill:#dff3e3;stroke:#d0d7de}"
    ".far{fill:#fff3c4;stroke:#d0d7de}.fault{fill:#ffd7d5;stroke:#c62828}.path{stroke:#2f8f46;stroke-width:2}"
    ".path.across{stroke:#c98a00;stroke-dasharray:5 3}.wrong{fill:#c62828;font-weight:bold}"
)


def render(pictures: Sequence[Picture]) -> str:
    """One SVG document with all pictures, one below the other."""
    parts: list[str] = []
    top, width = float(EDGE), 0.0
    for picture in pictures:
        drawn = _Drawing(picture, top)
        parts += drawn.parts
        top, width = drawn.bottom + 2 * EDGE, max(width, drawn.right)
    names = say("Topology of {host}", host=", ".join(say(picture.title) for picture in pictures))
    return document((width + EDGE, top), names, "", _STYLE, parts)


def _title(picture: Picture) -> str:
    return say("{what}, from {source}", what=say(picture.title), source=say(picture.source))


class _Drawing:
    """The parts of one picture; ``bottom`` and ``right`` are its extent."""

    def __init__(self, picture: Picture, top: float) -> None:
        self.picture = picture
        self.parts: list[str] = [f"<g class={quoteattr('host')}>"]
        self.right = 0.0
        self._boxes: dict[str, Box] = {}
        self._write(EDGE, top + 14, _title(picture), "title")
        self.bottom = self._matrices(self._faults(self._cpus(top + 26) + 2 * ROW))
        self.bottom = self._legend(self.bottom)
        self.parts.append("</g>")

    def _cpus(self, top: float) -> float:
        """Draw a box for each NUMA node, side by side; returns the bottom."""
        rows = {node: self._rows(node) for node in groups(self.picture)}
        two = any(nics for _, nics in rows.values())
        height = ROW + HIGH + (_LINES + HIGH if two else 0) + 2 * GAP
        left, later = float(EDGE), list[str]()
        for node, (gpus, nics) in rows.items():
            many = max(len(gpus), len(nics), 2)
            width = many * WIDE + (many + 1) * GAP
            self._rect(Box(left, top, width, height), "cpu", None)
            told = self.picture.cpus.get(node, "") if node is not None else ""
            self._write(left + GAP, top + ROW - 4, cut(f"{say(cpu_title(node))}  {told}", width - 2 * GAP), "head")
            for row, line in ((gpus, top + ROW + GAP / 2), (nics, top + ROW + GAP / 2 + HIGH + _LINES)):
                for place, device in enumerate(row):
                    middle = left + width * (place + 0.5) / len(row)
                    box = Box(middle - WIDE / 2, line, WIDE, HIGH)
                    self._boxes[device.label] = box
                    later += self._device(device, box)
            left += width + GAP
        self.parts += [*self._paths(), *later]
        self.right = max(self.right, left)
        return top + height

    def _rows(self, node: int | None) -> tuple[list[Device], list[Device]]:
        here = [device for device in self.picture.devices if device.cpu == node]
        return [d for d in here if d.kind == "gpu"], [d for d in here if d.kind == "nic"]

    def _device(self, device: Device, box: Box) -> list[str]:
        wrong = self.picture.faulty(device.label)
        lines = [device.label, device.name or "" if device.name != device.label else "", device.pcie.text()]
        shown = [line for line in lines if line][:3]
        about = say("; ").join([*[line for line in lines if line], *map(phrase, wrong)])
        parts = [rect(box, f"{device.kind} fault" if wrong else device.kind, about)]
        for number, line in enumerate(shown):
            style = "head" if number == 0 else ""
            parts.append(write(box.x + 5, box.y + 12 + number * 12, cut(line, box.width - 10), style))
        return parts

    def _paths(self) -> Iterator[str]:
        """A line from each GPU to its nearest NICs."""
        for gpu in self.picture.of("gpu"):
            for label in gpu.nearest:
                one, other = self._boxes[gpu.label], self._boxes[label]
                across = " across" if gpu.level in {"SYS", "SOC"} else ""
                about = f"{say('{one} to {other}', one=gpu.label, other=label)}: {gpu.level}"
                yield (
                    f'<line class="path{across}" x1="{one.x + one.width / 2:g}" y1="{one.y + one.height:g}" '
                    f'x2="{other.x + other.width / 2:g}" y2="{other.y:g}"><title>{xml(about)}</title></line>'
                )

    def _faults(self, top: float) -> float:
        for label, sentence in self.picture.faults:
            self._write(EDGE, top - 6, f"! {label}{say(': ')}{phrase(sentence)}", "wrong")
            top += ROW
        return top

    def _matrices(self, top: float) -> float:
        gpus, nics = ([device.label for device in self.picture.of(kind)] for kind in ("gpu", "nic"))
        left = float(EDGE)
        for columns in (gpus, nics):
            if not any(link and link.word != "X" for g in gpus for c in columns if (link := cell(self.picture, g, c))):
                continue
            wide = max(_COLUMN, LETTER * max(map(len, [*columns, *gpus])) + 8)
            for number, column in enumerate(columns, 1):
                self._write(left + number * wide + 4, top + 13, cut(column, wide - 4), "head")
            for line, row in enumerate(gpus, 1):
                self._write(left, top + line * ROW + 13, cut(row, wide), "head")
                for number, column in enumerate(columns, 1):
                    self._cell(row, column, Box(left + number * wide, top + line * ROW, wide, ROW))
            left += (len(columns) + 1) * wide + 2 * GAP
            self.right = max(self.right, left)
        return top + (len(gpus) + 1) * ROW + GAP

    def _cell(self, row: str, column: str, box: Box) -> None:
        link = cell(self.picture, row, column)
        gpu = next((d for d in self.picture.of("gpu") if d.label == row), None)
        style = "same" if row == column else "near" if gpu and column in gpu.nearest else "cell"
        word = link.word if link else "?"
        about = None if row == column else f"{say('{one} to {other}', one=row, other=column)}: {word}"
        self._rect(box, link.mark or style if link else style, about)
        self._write(box.x + 4, box.y + 13, cut(word, box.width - 6), "")

    def _legend(self, top: float) -> float:
        for sentence in dict.fromkeys(meanings(self.picture, far="yellow", fault="red")):
            self._write(EDGE, top + 10, say(sentence), "")
            top += ROW - 4
        return top

    def _rect(self, box: Box, style: str, about: str | None) -> None:
        self.parts.append(rect(box, style, about))

    def _write(self, x: float, y: float, text: str, style: str) -> None:
        self.right = max(self.right, x + 1.4 * LETTER * len(text))
        self.parts.append(write(x, y, text, style))
