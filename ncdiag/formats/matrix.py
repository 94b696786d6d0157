"""Square matrices of device labels as nvidia-smi topo prints them: tabs or blanks, cut, wrapped, without a header.

A copy may have lost the tabs between the cells: ``GPU0 X NV12NV12SYS0-230N/A``. The columns after the matrix can be
separated only where a tab is left before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex

ROW_LIMIT = 512
_PIECES = 6
"""Maximum number of lines that one row may take on a narrow terminal."""
_AFFINITY = lazy_regex(r"(CPU|NUMA)[ \t]{2,40}(?=Affinity)")
"""The title of a column whose blank a copy has widened."""
_ESCAPE = lazy_regex(r"\x1b?\[\d{0,2}(?:;\d{1,2})?m")
_LABEL = lazy_regex(r"[A-Za-z][\w.:-]{0,40}$")
_HEAD = lazy_regex(r"\s*GPU\d+(?:\s|$)")
_DEVICE = r"(?:GPU|NIC|mlx[45]_(?:bond_)?)\d{1,2}"
_STATE = r"(?:NV(?:1[0-8]|[1-9])(?!-)|PIX|PXB|PHB|NODE|SYS|SOC|OK|CNS|GNS|TNS|NS|DR|X)"
"""Distances and P2P letters. No GPU has more than 18 links, and ``NV12-35`` is ``NV1`` before the CPUs ``2-35``."""
GLUED_HEAD = r"[ \t]{0,40}GPU0(?:GPU|NIC|mlx[45]_)"
_GLUE = lazy_regex(rf"(?:{_DEVICE}|{_STATE})(?:{_DEVICE}|{_STATE})")
_CELLS = lazy_regex(
    rf"\s*(?:(?P<label>{_DEVICE})(?P<cells>(?:\s*{_STATE}){{2,512}})|(?P<head>(?:{_DEVICE}\s*){{2,512}}(?=CPU|$)))"
)
_EXTRA = lazy_regex(r"\S*\d[\d,-]*$|N/A$|(?:CPU|NUMA|GPU|Affinity|ID)$")


class Row(msgspec.Struct):
    """A row: the index of its line, its label, its cells and the named cells after the matrix (affinities)."""

    line: int
    label: str
    cells: list[str]
    extras: dict[str, str]


class Table(msgspec.Struct):
    """A matrix: ``labels`` name its columns (``""`` if unknown, without a header), ``others`` are other lines."""

    header: int | None
    labels: list[str]
    rows: list[Row]
    others: list[int]


def clean(line: str) -> str:
    """The line without colour escapes (also those without their ESC byte) and without Markdown's bars."""
    line = _ESCAPE.sub("", line) if "[" in line else line
    if line.lstrip().startswith("|"):
        return "\t".join(cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|"))
    return _apart(_AFFINITY.sub(r"\1 ", line) if "Affinity" in line else line)


def _apart(line: str) -> str:
    """The line with tabs between cells that are glued; the columns after the matrix stay where a tab precedes them."""
    found = _CELLS.match(line) if _GLUE.search(line) else None
    if found is None:
        return line
    if found["head"]:
        return "\t" + "\t".join(re.findall(_DEVICE, found["head"]))
    rest = line[found.end() :]
    cells = "\t".join([found["label"], *re.findall(_STATE, found["cells"])])
    return cells + rest if rest.startswith("\t") else cells


def table_line(lines: Sequence[str], line: str, row: re.Pattern[str], cell: re.Pattern[str]) -> bool:
    """True if ``line`` continues the matrix that ``lines`` began: a row, its only header, a wrapped piece."""
    line = clean(line)
    if len(lines) > ROW_LIMIT:
        return False
    if _row(line, row, cell):
        return True
    plain = [clean(text) for text in lines if text.strip()]
    started = any(_row(text, row, cell) or _HEAD.match(text) for text in plain)
    if _HEAD.match(line):
        return not started and _head_labels(line) is not None
    return started and _is_wrap(_last(plain, row, cell), line, _columns(plain), row, cell)


def _last(plain: Sequence[str], row: re.Pattern[str], cell: re.Pattern[str]) -> str:
    """The last row or header, joined with the pieces that a narrow terminal wrapped."""
    pieces: list[str] = []
    for text in reversed(plain[-_PIECES:]):
        pieces.append(text.strip() if pieces or not _row(text, row, cell) else text)
        if _row(text, row, cell) or _HEAD.match(text):
            return " ".join(reversed(pieces))
    return plain[-1]


def read_table(lines: Sequence[str], row: re.Pattern[str], cell: re.Pattern[str], extras: Sequence[str]) -> Table:
    """Parse the matrix; ``extras`` are the names of the columns after it, in order."""
    header: int | None = None
    head_text = ""
    found: list[tuple[int, str]] = []
    others: list[int] = []
    last = ""
    for index, raw in enumerate(lines):
        line = clean(raw)
        if _row(line, row, cell):
            found.append((index, line))
        elif header is None and not found and _HEAD.match(line) and _head_labels(line) is not None:
            header, head_text = index, line
        elif line.strip() and (found or header is not None) and _is_wrap(last, line, _columns([head_text]), row, cell):
            if found:
                found[-1] = found[-1][0], f"{found[-1][1]} {line.strip()}"
            else:
                head_text += " " + line.strip()
            line = f"{last} {line.strip()}"
        else:
            others.append(index)
        last = line if line.strip() else last
    labels = (_head_labels(head_text) or []) if header is not None else []
    rows = [_read_row(index, text, row, cell, labels, head_text, extras) for index, text in found]
    if not labels:
        labels = _labels_by_diagonal(rows)
    good = [
        r for r in rows if r.label in labels and ("X" not in r.cells or r.cells.index("X") == labels.index(r.label))
    ]
    others += [r.line for r in rows if r not in good]
    return Table(header, labels, good, sorted(others))


def _row(line: str, row: re.Pattern[str], cell: re.Pattern[str]) -> re.Match[str] | None:
    found = row.match(line)
    return found if found and not cell.match(found["label"]) else None


def _head_labels(line: str) -> list[str] | None:
    """Labels before the affinity columns; None if the line is not a header."""
    labels: list[str] = []
    for word in re.split(r"CPU Affinity|NUMA Affinity|CPU\s*$", line, maxsplit=1)[0].split():
        if not _LABEL.match(word):
            return None
        labels.append(word)
    return labels or None


def _columns(plain: Sequence[str]) -> int | None:
    """The number of columns by the header of the matrix; None without a header."""
    for position, text in enumerate(plain[:3]):
        if _HEAD.match(text):
            labels = _head_labels(text)
            more = plain[position + 1 : position + 2] if "Affinity" not in text else []
            wrapped = [piece for piece in more if not _HEAD.match(piece) and "Affinity" in piece]
            return len(labels) + sum(len(_head_labels(piece) or ()) for piece in wrapped) if labels else None
    return None


def _is_wrap(last: str, line: str, columns: int | None, row: re.Pattern[str], cell: re.Pattern[str]) -> bool:
    """True if the line is the end of the previous one, wrapped by a narrow terminal."""
    words = line.split()
    if columns is None or len(words) > ROW_LIMIT or not words:
        return False
    above = _row(last, row, cell)
    if above is None and _HEAD.match(last):
        return (
            "Affinity" not in last and all(_LABEL.match(word) for word in words) and any(_EXTRA.match(w) for w in words)
        )
    if above is None or not all(cell.match(word) or _EXTRA.match(word) for word in words):
        return False
    cells = sum(1 for word in above["cells"].split() if cell.match(word))
    behind = len(above["cells"].split()) - cells
    return cells < columns or (behind == 0 and above["label"].startswith("GPU"))


def _read_row(  # noqa: PLR0913, PLR0917
    index: int,
    text: str,
    row: re.Pattern[str],
    cell: re.Pattern[str],
    labels: list[str],
    head: str,
    extras: Sequence[str],
) -> Row:
    found = _row(text, row, cell)
    assert found is not None  # noqa: S101  (the caller kept rows only)
    cells: list[str] = []
    end = found.start("cells")
    for word in re.finditer(r"\S+", found["cells"]):
        if not cell.match(word[0]) or (labels and len(cells) == len(labels)):
            break
        cells.append(word[0])
        end = found.start("cells") + word.end()
    return Row(index, found["label"], cells, _extras(text, end, head, extras))


def _extras(text: str, end: int, head: str, names: Sequence[str]) -> dict[str, str]:
    """The cells after the matrix by name.

    An empty one is recognised by the tabs, or by the position of the next one.
    """
    rest = text[end:]
    values = rest.split()
    if not values:
        return {}
    behind = [name for name in (*names, "GPU NUMA ID") if name in head]
    if len(values) < len(behind):
        fields = rest.split("\t")[1:] if "\t" in rest else []
        if fields and not fields[0].strip():
            return {name: field.strip() for name, field in zip(names, fields, strict=False)}
        first = head.find(behind[0])
        place = end + len(rest) - len(rest.lstrip())
        if (
            first >= 0
            and len(behind) > 1
            and "\t" not in text
            and abs(place - head.find(behind[1])) < abs(place - first)
        ):
            values.insert(0, "")
    return dict(zip(names, values, strict=False))


def _labels_by_diagonal(rows: Sequence[Row]) -> list[str]:
    """Column names of a matrix without a header: the X of a row is in the column of the same device."""
    width = max((len(r.cells) for r in rows), default=0)
    labels = [""] * width
    for r in rows:
        if "X" in r.cells:
            labels[r.cells.index("X")] = r.label
    return labels
