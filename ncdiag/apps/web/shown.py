"""The cited lines of the input with their neighbours, each with a link back to the answer."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.report.html.element import Child, Element, element, write
from ncdiag.report.model import Evidence, Report
from ncdiag.text import Source, Text

WHOLE = 400
"""Maximum number of lines of a source that is shown completely."""
AROUND = 8
"""Number of lines shown before and after a cited one of a longer source."""
SHOWN_LIMIT = 4000
"""Maximum number of lines shown of all sources together."""
_LINE_LIMIT = 2000


class Shown:
    """The lines that are shown, by source."""

    def __init__(self, report: Report, sources: Iterable[Source]) -> None:
        """``sources`` are read again, if they contain cited lines."""
        self.lines: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}
        wanted = cited(report)
        left = set(wanted)
        for source in sources if wanted else ():
            if source.name in left and isinstance(source, Text):
                left.discard(source.name)
                self._read(source, wanted[source.name])
            if not left:
                break
        self._cited = {(name, line) for name, lines in wanted.items() for line in lines} & self.lines.keys()
        self._numbers = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in self.lines), 1)}

    def place(self, item: Evidence) -> str | None:
        """The address in the page of a cited line; None if it is not shown."""
        return f"#{self._id(item.source, item.line)}" if (item.source, item.line) in self._cited else None

    def html(self, title: str, back: str, left_out: str, linked: Container[str]) -> str:
        """The lines as HTML, empty without any; ``back`` names links to the answer, ``left_out`` contains ``{count}``.

        ``linked`` are the addresses to which the answer has links: only from these is there a link back.
        """
        if not self.lines:
            return ""
        parts: list[Child] = [element("h2", title, id="input-title")]
        for name in self._numbers:
            rows = self._rows(name, back, left_out, linked)
            parts += [element("h3", name), element("pre", *rows, tabindex="0", class_="input")]
        return write(element("section", *parts, class_="card shown", aria_labelledby="input-title"))

    def _rows(self, source: str, back: str, left_out: str, linked: Container[str]) -> Iterator[Element]:
        before = 0
        for name, number in self.lines:
            if name != source:
                continue
            if number - before > 1:
                yield _gap(left_out, number - before - 1)
            before = number
            yield self._row(source, number, back, linked)
        if self._counts[source] > before:
            yield _gap(left_out, self._counts[source] - before)

    def _row(self, source: str, number: int, back: str, linked: Container[str]) -> Element:
        text = self.lines[source, number]
        if (source, number) not in self._cited:
            return element("span", element("span", str(number), class_="number"), element("span", text), class_="line")
        place = self._id(source, number)
        to_answer = None
        if f"#{place}" in linked:
            to_answer = element("a", "\u2191", href=f"#answer-{place}", class_="back", aria_label=f"{back} ({number})")
        return element(
            "span", element("span", str(number), class_="number"), element("mark", text), to_answer, class_="line",
            id=place, tabindex="-1",
        )  # fmt: skip

    def _id(self, source: str, line: int) -> str:
        return f"line-{self._numbers[source]}-{line}"

    def _read(self, source: Text, cited_lines: set[int]) -> None:
        """Store the lines of a source that are shown."""
        near = {n for line in cited_lines for n in range(line - AROUND, line + AROUND + 1)}
        kept: dict[int, str] = {}
        count = 0
        for buffer in source.buffers():
            for line in buffer.removesuffix(b"\n").split(b"\n") if buffer else ():
                count += 1
                if count <= WHOLE or count in near:
                    kept[count] = line.decode("utf-8", "replace")
        kept = dict(zip(kept, Hiding().lines(list(kept.values())), strict=True))
        whole = count <= WHOLE
        self._counts[source.name] = count
        for number, text in kept.items():
            if (whole or number in near) and len(self.lines) < SHOWN_LIMIT:
                self.lines[source.name, number] = text if len(text) <= _LINE_LIMIT else f"{text[:_LINE_LIMIT]} ..."


def cited(report: Report) -> Mapping[str, set[int]]:
    """The numbers of all lines that a report cites, by source."""
    found: dict[str, set[int]] = {}
    for item in _evidence(report):
        if item.line:
            found.setdefault(item.source, set()).add(item.line)
    return found


def _evidence(report: Report) -> Iterator[Evidence]:
    for finding in report.findings:
        yield from finding.evidence
    for suspect in report.suspects:
        for sign in (*suspect.supporting, *suspect.against):
            yield from sign.evidence
    for complaint in report.complaints:
        yield from complaint.evidence
    for moment in report.timeline:
        yield from moment.evidence


def _gap(left_out: str, count: int) -> Element:
    return element("span", left_out.format(count=count), class_="gap")
