"""The ranks of a job, by host, with the traits in which they differ: version, network, path, settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ncdiag.agent.look import natural
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Rank
from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted, cut
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, legend, matrix, picture
from ncdiag.report.html.element import Child, Element, element

ROWS = 24
"""Maximum number of rows of a matrix; of more groups of hosts, those with the rarest values."""
COLUMNS = 32
"""Maximum number of ranks of a host that have a cell."""
_VALUES = 6
"""Maximum number of different values in a matrix; the others share the last letter."""
_SETTINGS = 6
"""Maximum number of settings with their own matrix."""
_LETTERS = "ABCDEF"
_STATES = {
    "started": "started setup", "ready": "completed setup", "failed": "failed", "silent": "printed nothing",
}  # fmt: skip


class Trait(NamedTuple):
    """A property in which ranks may differ: its name, and the value of each rank for which it is known."""

    name: str
    values: Mapping[int, str]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """(value, number of ranks), most common first."""
        return Counter(self.values.values()).most_common()


def traits(ranks: Sequence[Rank]) -> list[Trait]:
    """The traits that are known for at least one of the ranks."""
    found = [Trait(say(name), _told(ranks, take)) for name, take in _TRAITS]
    names = Counter(name for rank in ranks for name in rank.settings)
    settings = [Trait(name, _told(ranks, _setting(name))) for name in sorted(names)]
    differing = [trait for trait in settings if len(trait.counts) > 1]
    return [trait for trait in (*found, *differing[:_SETTINGS]) if trait.values]


def _told(ranks: Iterable[Rank], take: Callable[[Rank], str | None]) -> dict[int, str]:
    return {rank.rank: value for rank in ranks if rank.rank is not None and (value := take(rank))}


def _setting(name: str) -> Callable[[Rank], str | None]:
    return lambda rank: setting.text if (setting := rank.settings.get(name)) is not None else None


def _version(rank: Rank) -> str | None:
    return None if rank.nccl_version is None else rank.nccl_version.text or str(rank.nccl_version)


def _gdr(rank: Rank) -> str | None:
    said = {verdict.enabled for verdict in rank.gdr}
    return None if not said else say("on" if said == {True} else "off" if said == {False} else "on for some NICs")


_TRAITS: tuple[tuple[str, Callable[[Rank], str | None]], ...] = (
    ("NCCL version", _version),
    ("Network", lambda rank: rank.net),
    ("Transports", lambda rank: ", ".join(sorted(rank.transports or ())) or None),
    ("GPUDirect RDMA", _gdr),
    ("Progress", lambda rank: say(_STATES[rank.state]) if rank.state in _STATES else None),
)


def draw(view: View, context: Context) -> Element | None:
    """A matrix for each trait in which ranks differ, a sentence for each in which they agree."""
    ranks = [rank for rank in view.job.ranks if rank.rank is not None]
    found = traits(ranks)
    if len({rank.rank for rank in ranks}) < 2 or not found:  # noqa: PLR2004  (one rank differs from nobody)
        return None
    by_host: dict[str, set[int]] = defaultdict(set)
    for rank in ranks:
        if rank.rank is not None:
            by_host[rank.host].add(rank.rank)
    alike = [
        say("{label}: {text}", label=trait.name, text=cut(trait.counts[0][0], 80))
        for trait in found
        if len(trait.counts) == 1
    ]
    parts: list[Child] = (
        [element("p", say("Identical on all ranks that report it: {values}.", values=say("; ").join(alike)))]
        if alike
        else []
    )
    for trait in found:
        if len(trait.counts) > 1:
            parts += _matrix(trait, by_host)
    seen = {rank.rank for rank in ranks}
    absent = [number for number in range(min(view.job.nranks or 0, 1 << 17)) if number not in seen]
    count, hosts = counted(len(seen), "rank"), counted(len(by_host), "host")
    told = [say("{ranks} of {n} on {hosts}.", ranks=count, n=view.job.nranks or len(seen), hosts=hosts)]
    if absent:
        told.append(say("Not in this input: {ranks}.", ranks=named(absent, 160)))
    return picture(context, say("Ranks"), say(" ").join(told), *parts)


def named(numbers: Sequence[int], limit: int = 80) -> str:
    """``ranks 0-3,8``."""
    return say("rank {ranks}" if len(numbers) == 1 else "ranks {ranks}", ranks=cut(fold_ranks(numbers), limit))


def _matrix(trait: Trait, by_host: Mapping[str, Collection[int]]) -> list[Child]:
    """A row for each host, or for all equal hosts; a column for each of its ranks by number."""
    letters = {value: _LETTERS[min(place, _VALUES - 1)] for place, (value, _) in enumerate(trait.counts)}
    groups: dict[tuple[str | None, ...], list[str]] = defaultdict(list)
    for host, numbers in by_host.items():
        groups[tuple(letters.get(trait.values.get(number, "")) for number in sorted(numbers))].append(host)
    rare = {letter: place for place, letter in enumerate(reversed(_LETTERS))}
    order = sorted(groups, key=lambda cells: (min((rare[c] for c in cells if c), default=9), len(groups[cells])))
    shown = sorted(order[:ROWS], key=lambda cells: natural(groups[cells][0]))
    widest = min(COLUMNS, max(map(len, groups)))
    rows = []
    for cells in shown:
        hosts = groups[cells]
        name = say("{text} ({note})", text=cut(fold_hosts(hosts), 60), note=len(hosts)) if len(hosts) > 1 else hosts[0]
        numbers = sorted(by_host[hosts[0]])
        filled: list[Cell | None] = [
            _letter(letter, say("rank {ranks}", ranks=number) if len(hosts) == 1 else "")
            for letter, number in zip(cells[:COLUMNS], numbers, strict=False)
        ]
        rows.append((name, [*filled, *([None] * (widest - len(filled)))]))
    told = trait.counts[: 2 * _VALUES]
    keys = [(_letter(letters[value]), _key(trait, value)) for value, _ in told]
    if len(letters) > len(told):
        keys.append((_letter(_LETTERS[-1]), say("and {n} more values", n=len(letters) - len(told))))
    left = sum(len(groups[cells]) for cells in order[ROWS:])
    return [
        element("h4", trait.name),
        matrix(
            say("{name} by host and rank", name=trait.name),
            say("host, rank on it"),
            [str(n) for n in range(widest)],
            rows,
        ),
        legend([*keys, *([(Cell("?", "none"), say("not reported"))] if _is_open(groups) else [])]),
        element("p", say("{things} not shown.", things=counted(left, "more host")), class_="quiet") if left else None,
    ]


def _letter(letter: str | None, about: str = "") -> Cell:
    return Cell(letter, f"v{_LETTERS.index(letter)}", about) if letter else Cell("?", "none", about)


def _is_open(groups: Iterable[tuple[str | None, ...]]) -> bool:
    return any(letter is None for cells in groups for letter in cells)


def _key(trait: Trait, value: str) -> str:
    numbers = [number for number, held in trait.values.items() if held == value]
    return say("{label}: {text}", label=cut(value, 80), text=named(numbers))
