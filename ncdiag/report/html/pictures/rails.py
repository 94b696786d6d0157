"""Matrix of which NIC of one host sends to which NIC of another: aligned and crossing rails."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ncdiag.engine.fields import read
from ncdiag.facts.model import Wiring
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted, cut
from ncdiag.report.html.drawing import Cell, legend, matrix
from ncdiag.report.html.element import Child, element

NICS = 32
"""Maximum number of NICs with a row."""


def crossings(view: View) -> Iterator[Child]:
    """A matrix of pairs of ranks by the NICs at both ends, if each end names one."""
    found: tuple[Wiring, ...] = read(view.job, "wirings", view) or ()
    pairs: Counter[tuple[int, int]] = Counter()
    for one in found:
        for wire in () if one.mixed else one.wires:
            if len(wire.source_nics) == len(wire.target_nics) == 1:
                pairs[wire.source_nics[0], wire.target_nics[0]] += 1
    if not pairs:
        return
    names = _names(view)
    numbers = sorted({number for pair in pairs for number in pair})[:NICS]
    rows = []
    for source in numbers:
        cells: list[Cell | None] = []
        for target in numbers:
            count = pairs.get((source, target))
            about = say("{one} to {other}", one=names[source], other=names[target])
            style = "near" if source == target else "ports"
            text = counted(count or 0, "pair")
            cells.append(Cell(str(count), style, say("{label}: {text}", label=about, text=text)) if count else None)
        rows.append((names[source], cells))
    yield element("h4", say("NICs at the two ends of a connection"))
    yield element("p", say("Rows send to columns; a cell shows the number of rank pairs."))
    yield matrix(say("Rails"), say("from, to"), [names[number] for number in numbers], rows)
    keys = [(Cell("1", "near"), say("the same NIC at both ends: one rail"))]
    if any(source != target for source, target in pairs):
        keys.append((Cell("1", "ports"), say("different NICs: data crosses between rails")))
    yield legend(keys)


def _names(view: View) -> dict[int, str]:
    """The names of NICs by number, if all ranks that list a NIC of that number agree."""
    told: dict[int, set[str]] = defaultdict(set)
    for rank in view.job.ranks:
        for device in rank.net_devices or ():
            told[device.index].add(device.name)
    names: dict[int, str] = _Numbered()
    names.update({number: cut(next(iter(found)), 40) for number, found in told.items() if len(found) == 1})
    return names


class _Numbered(dict[int, str]):
    """Names of NICs; one without a name is shown by its number."""

    def __missing__(self, number: int) -> str:
        return say("NIC {n}", n=number)
