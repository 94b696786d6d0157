"""Matrices for each communicator: which transport connects which ranks and hosts, from what its ranks printed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.agent.look import natural
from ncdiag.engine.fields import read
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Wire, Wiring
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted, cut
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, legend, matrix, picture
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.html.pictures.ranks import Trait, traits

SHOWN = 4
"""Maximum number of communicators, largest first; equal ones are one."""
RANKS = 64
"""Maximum number of ranks with one row each; for more ranks, rows are hosts."""
ROWS = 32
"""Maximum number of rows of hosts; for more hosts, several share a row."""
CELLS = 5000
"""Maximum number of filled cells of ranks in all matrices: if all ranks send to all, a matrix is full."""
LISTED = 24
"""Maximum number of pairs named in words, per transport."""
_NAME = 60
_KINDS = (
    ("P2P", "P", "v4"), ("SHM", "S", "v5"), ("GDRDMA", "G", "v3"), ("NET/Socket", "T", "v2"), ("NET/", "N", "v2"),
)  # fmt: skip
"""Part of the name of a transport, its letter, and the style of its cells."""
_OTHER, _SEVERAL = ("O", "other"), ("+", "other")
_DIFFER = "!"


class Spot(NamedTuple):
    """A row or column: its heading, and its name in a sentence."""

    name: str
    told: str


class Joined(NamedTuple):
    """The connections of two spots: pairs of ranks by transport, and the traits in which connected ranks differ."""

    pairs: Counter[str]
    differ: set[str]


Cells = Mapping[tuple[int, int], Joined]


def draw(view: View, context: Context) -> Element | None:
    """Matrices of hosts and of ranks for the widest communicators."""
    found: tuple[Wiring, ...] = read(view.job, "wirings", view) or ()
    groups: dict[object, list[Wiring]] = defaultdict(list)
    for one in found:
        if one.wires:
            groups[one.nranks, one.mixed, _shape(one)].append(one)
    if not groups:
        return None
    parts: list[Child] = []
    left = CELLS
    for alike in list(groups.values())[:SHOWN]:
        one = alike[0]
        parts.append(element("h4", _title(alike)))
        if one.mixed:
            parts.append(element("p", say("The log does not distinguish the communicators of this size.")))
            continue
        parts += _matrices(one, _differing(one, view), ranks_too=len(one.wires) <= left)
        left -= len(one.wires)
    told = [say("Rows send to columns; an empty cell: the input shows no connection.")]
    if len(groups) > SHOWN:
        told.append(say("{things} not drawn.", things=counted(len(groups) - SHOWN, "more communicator")))
    return picture(context, say("Which ranks are connected"), say(" ").join(told), *parts)


def _shape(one: Wiring) -> tuple[object, ...]:
    """Two communicators with the same value are connected alike: the same transports between the same ranks."""
    places: dict[str | None, int] = {}
    return tuple(
        (
            wire.source, wire.target, frozenset(wire.sent), frozenset(wire.received),
            places.setdefault(wire.source_host, len(places)), places.setdefault(wire.target_host, len(places)),
        )
        for wire in one.wires
    )  # fmt: skip


def _title(alike: Sequence[Wiring]) -> str:
    one = alike[0]
    if len(alike) > 1:
        things = counted(len(alike), "communicator")
        return say("{things} with the same pattern, each of {ranks}", things=things, ranks=size(one))
    if one.communicator is None:
        return say("Communicator of {ranks}", ranks=size(one))
    return say("Communicator {name} of {ranks}", name=cut(one.communicator, _NAME), ranks=size(one))


def size(one: Wiring) -> str:
    """``16 ranks``."""
    return counted(one.nranks, "rank") if one.nranks else say("an unknown number of ranks")


def _differing(one: Wiring, view: View) -> list[Trait]:
    """The traits in which members of the job's communicator differ; in others, ranks have other numbers."""
    members = [rank for rank in view.job.ranks if rank.communicator == one.communicator and rank.rank is not None]
    if one.communicator is None or one.nranks != view.job.nranks:
        return []
    told = {say("Transports"), say("Progress")}
    return [trait for trait in traits(members) if trait.name not in told and len(trait.counts) > 1]


def _matrices(one: Wiring, differing: Sequence[Trait], *, ranks_too: bool) -> Iterator[Child]:
    numbers = sorted({number for wire in one.wires for number in (wire.source, wire.target)})
    hosts = host_of(one)
    names = sorted({hosts.get(number) for number in numbers}, key=lambda host: (host is None, natural(host or "")))
    ranks_too = ranks_too and len(numbers) <= RANKS
    cells: list[Cells] = []
    if len(names) > 1 or not ranks_too:
        rows, place = _rows(names)
        cells.append(_cells(one.wires, {number: place[hosts.get(number)] for number in numbers}, differing))
        yield _matrix(say("Transports between hosts"), rows, cells[-1])
    if ranks_too:
        spots = [Spot(str(number), _rank(number, hosts)) for number in numbers]
        cells.append(_cells(one.wires, {number: place for place, number in enumerate(numbers)}, differing))
        yield _matrix(say("Transports between ranks"), spots, cells[-1])
    yield legend(_legend(cells))
    yield element("details", element("summary", say("In words")), element("ul", *_in_words(one)))


def host_of(one: Wiring) -> dict[int, str]:
    """The known hosts of the ranks."""
    found = {wire.source: wire.source_host for wire in one.wires} | {
        wire.target: wire.target_host for wire in one.wires
    }
    return {number: host for number, host in found.items() if host is not None}


def _rows(names: Sequence[str | None]) -> tuple[list[Spot], dict[str | None, int]]:
    """The rows of hosts, and the index of each host's row."""
    each = -(-len(names) // ROWS)
    blocks = [names[start : start + each] for start in range(0, len(names), each)]
    spots = []
    for block in blocks:
        known = [name for name in block if name is not None]
        name = cut(fold_hosts(known), _NAME) if known else say("host not reported")
        spots.append(Spot(name, name))
    return spots, {name: place for place, block in enumerate(blocks) for name in block}


def _rank(number: int, hosts: Mapping[int, str]) -> str:
    name = say("rank {ranks}", ranks=number)
    return say("{text} ({note})", text=name, note=cut(hosts[number], _NAME)) if number in hosts else name


def _cells(wires: Iterable[Wire], place: Mapping[int, int], differing: Sequence[Trait]) -> Cells:
    found: dict[tuple[int, int], Joined] = defaultdict(lambda: Joined(Counter(), set()))
    for wire in wires:
        joined = found[place[wire.source], place[wire.target]]
        joined.pairs.update(dict.fromkeys((*wire.sent, *wire.received), 1))
        joined.differ.update(trait.name for trait in differing if _differ(trait, wire))
    return found


def _differ(trait: Trait, wire: Wire) -> bool:
    values = [trait.values.get(wire.source), trait.values.get(wire.target)]
    return None not in values and values[0] != values[1]


def _matrix(label: str, spots: Sequence[Spot], cells: Cells) -> Element:
    """The table; spots with numeric headings are used as columns directly, others are numbered."""
    plain = all(spot.name.isdigit() for spot in spots)
    heads = [spot.name if plain else str(place) for place, spot in enumerate(spots, 1)]
    rows = []
    for row, spot in enumerate(spots):
        filled = [_cell(spot, other, cells.get((row, column))) for column, other in enumerate(spots)]
        filled[row] = filled[row] or Cell("", "self")
        rows.append((spot.name if plain else f"{heads[row]} {spot.name}", filled))
    return matrix(label, say("from, to"), heads, rows)


def _cell(spot: Spot, other: Spot, joined: Joined | None) -> Cell | None:
    if joined is None:
        return None
    text = say(", ").join(_transports(joined.pairs))
    if joined.differ:
        text = say("{text}; they differ in {things}", text=text, things=say(", ").join(sorted(joined.differ)))
    about = say("{label}: {text}", label=say("{one} to {other}", one=spot.told, other=other.told), text=text)
    letter, style = _look(joined.pairs)
    return Cell(letter + (_DIFFER if joined.differ else ""), style, about)


def _transports(pairs: Counter[str]) -> list[str]:
    """``NET/IB/GDRDMA (2)``, without a number if all pairs use it."""
    return [
        say("{text} ({note})", text=cut(name, _NAME), note=count) if count > 1 else cut(name, _NAME)
        for name, count in sorted(pairs.items())
    ]


def _look(names: Iterable[str]) -> tuple[str, str]:
    """The letter and the style for one or several transports."""
    looks = {next(((letter, style) for part, letter, style in _KINDS if part in name), _OTHER) for name in names}
    return looks.pop() if len(looks) == 1 else _SEVERAL


def _legend(all_cells: Iterable[Cells]) -> Iterator[tuple[Cell, str]]:
    """The letters that occur, each with its transports."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    differ = several = False
    for cells in all_cells:
        for joined in cells.values():
            several = several or _look(joined.pairs) == _SEVERAL
            differ = differ or bool(joined.differ)
            for name in joined.pairs:
                found[_look([name])].add(name)
    for (letter, style), names in sorted(found.items()):
        yield Cell(letter, style), cut(say(", ").join(sorted(names)), 160)
    if several:
        yield Cell(*_SEVERAL), say("several of these, or GPUDirect RDMA on one side only")
    if differ:
        yield Cell(_DIFFER), say("the two ranks differ in version or settings")


def _in_words(one: Wiring) -> Iterator[Element]:
    """A sentence per transport: the number of pairs, which of them connect hosts, and by which NICs."""
    by_name: dict[str, list[Wire]] = defaultdict(list)
    for wire in one.wires:
        for name in dict.fromkeys((*wire.sent, *wire.received)):
            by_name[name].append(wire)
    for name, wires in sorted(by_name.items()):
        pairs = [say("{one} to {other}", one=wire.source, other=wire.target) for wire in wires[:LISTED]]
        if len(wires) > LISTED:
            pairs.append(say("{n} more", n=len(wires) - LISTED))
        label = say("{text}, {pairs}", text=cut(name, _NAME), pairs=counted(len(wires), "pair"))
        lines = sorted(
            {count for wire in wires for told in (wire.sent, wire.received) for count in (told.get(name, 0),)} - {0}
        )
        channels = say("{n} Channel lines each", n=fold_ranks(lines))
        yield element(
            "li", say("{label}: {text}.", label=label, text=say("; ").join([say(", ").join(pairs), channels]))
        )
