"""The picture in a terminal: a tree of CPUs with their GPUs and NICs, then the matrix, in ASCII."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.language import phrase, say
from ncdiag.report.page import Page
from ncdiag.report.sanitize import one_line
from ncdiag.report.topology.model import Device, Link, Picture

_MARKS = {"": "", "far": "*", "fault": "!"}
_COLOURS = {"": "", "far": "yellow", "fault": "bold red"}
_NEAR = "green"
_NAME = 26
MEANINGS = {
    "NV": "NV#: # NVLinks", "XGMI": "XGMI: AMD's links between GPUs", "PCIE": "PCIE: over PCIe",
    "HCCS": "HCCS: Huawei's links between NPUs", "PIX": "PIX: one PCIe switch", "PXB": "PXB: several PCIe switches",
    "PHB": "PHB: the host bridge of the CPU", "NODE": "NODE: several host bridges of one CPU",
    "SYS": "SYS: the link between CPUs", "SOC": "SOC: the link between CPUs", "C2C": "C2C: chip to chip",
    "NVL": "NVL: NVLink", "NVB": "NVB: NVLink through another GPU", "P2C": "P2C: chip to chip, then PCIe",
    "LOC": "LOC: the same device", "PXN": "PXN: through another GPU's NIC",
}  # fmt: skip


def render(pictures: Sequence[Picture], *, width: int = 80, colour: bool = False) -> str:
    """All pictures, one below the other, in at most ``width`` columns (at least 40)."""
    page = Page(width)
    for picture in pictures:
        page.blank()
        page.put(say("{what}, from {source}", what=say(picture.title), source=say(picture.source)), "bold")
        page.blank()
        _tree(page, picture)
        _matrices(page, picture)
        _legend(page, picture)
    return page.painted() if colour else page.plain()


def _tree(page: Page, picture: Picture) -> None:
    for node in groups(picture):
        listed = picture.cpus.get(node, "") if node is not None else ""
        page.put(say(cpu_title(node)) + (f"  {listed}" if listed else ""), "bold")
        devices = [device for device in picture.devices if device.cpu == node]
        for device in devices:
            branch = "`-- " if device is devices[-1] else "|-- "
            _device(page, picture, device, f"  {branch}")


def groups(picture: Picture) -> list[int | None]:
    """The NUMA nodes that have devices; None at the end is for devices whose node is unknown."""
    return sorted({device.cpu for device in picture.devices}, key=lambda node: (node is None, node or 0))


def cpu_title(node: int | None) -> str:
    """``NUMA node 1``, or that it is not known."""
    return f"NUMA node {node}" if node is not None else "NUMA node unknown"


def _device(page: Page, picture: Picture, device: Device, first: str) -> None:
    wrong = picture.faulty(device.label)
    name = one_line(device.name or "") if device.name != device.label else ""
    name = name if len(name) <= _NAME else name[: _NAME - 3] + "..."
    pieces = [(first, "dim"), (f"{device.label:<6}", "bold red" if wrong else ""), (f" {name:<{_NAME}}", "")]
    if device.nearest:
        far = device.level in {"SYS", "SOC"}
        pieces.append((f" --{one_line(device.level or '')}-- ", "yellow" if far else _NEAR))
        room = page.width - sum(len(text) for text, _ in pieces)
        pieces.append((_joined(device.nearest, room), ""))
    page.lines.append(pieces)
    for sentence in wrong:
        page.put(phrase(sentence), "bold red", first="  |     ! ")


def _joined(labels: Sequence[str], room: int) -> str:
    """As many labels as fit, and the number of the rest."""
    labels = [one_line(label) for label in labels]
    text = ", ".join(labels)
    kept = len(labels)
    while len(text) > room and kept > 1:
        kept -= 1
        text = ", ".join(labels[:kept]) + f", +{len(labels) - kept}"
    return text


def _matrices(page: Page, picture: Picture) -> None:
    gpus, nics = ([device.label for device in picture.of(kind)] for kind in ("gpu", "nic"))
    for columns in (gpus, nics):
        cells = {(row, column): cell(picture, row, column) for row in gpus for column in columns}
        if not any(link and link.word != "X" for link in cells.values()):
            continue
        size = max([len(_shown(link)) for link in cells.values()] + [len(label) for label in columns]) + 1
        head = max(map(len, gpus)) + 1
        many = max(1, (page.width - head) // size)
        for start in range(0, len(columns), many):
            part = columns[start : start + many]
            page.blank()
            page.lines.append([(" " * head, ""), *((f"{label:>{size}}", "bold") for label in part)])
            for row in gpus:
                found = [cells[row, column] for column in part]
                line = [(f"{_shown(link):>{size}}", _COLOURS[link.mark] if link else "") for link in found]
                page.lines.append([(f"{row:<{head}}", "bold"), *line])


def cell(picture: Picture, row: str, column: str) -> Link | None:
    """The entry of the matrix for a pair; None if unknown."""
    if row == column:
        return Link("X")
    return picture.links.get((row, column)) or picture.links.get((column, row))


def _shown(link: Link | None) -> str:
    return one_line(link.word) + _MARKS[link.mark] if link else "?"


def _legend(page: Page, picture: Picture) -> None:
    told = list(dict.fromkeys(meanings(picture)))
    if told:
        page.blank()
        page.put(say("; ").join(map(say, told)))


def meanings(picture: Picture, far: str = "*", fault: str = "!") -> Iterator[str]:
    """The meanings of the words and marks in this picture; ``far`` and ``fault`` are the marks of links."""
    words = {
        "NV" if link.word[:2] == "NV" and link.word[2:].isdigit() else link.word for link in picture.links.values()
    }
    yield from (text for word, text in MEANINGS.items() if word in words)
    marks = {link.mark for link in picture.links.values()}
    if "far" in marks:
        yield f"{far}: a nearer NIC exists"
    if "fault" in marks or picture.faults:
        yield f"{fault}: below its maximum"
