"""Group hosts by their values: which are alike, and which are outliers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ncdiag.checks.compared import Item, book
from ncdiag.comparing.readers import folded
from ncdiag.comparing.values import Table
from ncdiag.comparing.weights import ORDER, Importance, importance
from ncdiag.facts.fold import fold_hosts
from ncdiag.report.differences import Comparison, Share


class Compared(NamedTuple):
    """The differences between hosts, and the number of items with equal values on several hosts."""

    different: tuple[Comparison, ...]
    alike: int


def compare(table: Table, hosts: Iterable[str]) -> Compared:
    """Compare the ``hosts`` of a job by each item that at least two of them have; most important first.

    Devices of a host with the same difference are one comparison (``mlx5_[0-7]``).
    """
    names: dict[tuple[int, Importance, tuple[tuple[str, tuple[str, ...]], ...]], list[str]] = {}
    alike = 0
    for subject, groups in table.items():
        if len(groups) > 1:
            shares = tuple((value, tuple(members)) for value, members in groups.items())
            place = subject.number, importance(subject), shares
            names.setdefault(place, []).append(subject.name)
        else:
            alike += sum(map(len, groups.values())) > 1
    known = list(hosts)
    found = [
        _comparison(book().item[number], called, about, dict(shares), known)
        for (number, about, shares), called in names.items()
    ]
    found.sort(key=lambda one: (ORDER[one.weight], _rarity(one)))
    return Compared(tuple(found), alike)


def majority(groups: Mapping[str, object], sizes: Mapping[str, int]) -> str | None:
    """The value of more than half of the hosts; None if there is none."""
    total = sum(sizes.values())
    return next((value for value in groups if 2 * sizes[value] > total), None)


def _rarity(one: Comparison) -> int:
    """The number of outliers; groups of equal size come last."""
    odd = sum(one.groups[value].nhosts for value in one.odd)
    return odd or sum(share.nhosts for share in one.groups.values())


def _comparison(
    item: Item, names: Sequence[str], about: Importance, groups: Mapping[str, tuple[str, ...]], hosts: Sequence[str]
) -> Comparison:
    sizes = {value: len(members) for value, members in groups.items()}
    usual = majority(groups, sizes)
    order = sorted(groups, key=lambda value: (value == usual, sizes[value], value))
    seen = {host for members in groups.values() for host in members}
    unseen = [host for host in hosts if host not in seen]
    return Comparison(
        what=item.what, name=folded(names),
        groups={value: Share(fold_hosts(groups[value]), sizes[value]) for value in order},
        odd=tuple(value for value in order if usual is not None and value != usual),
        not_seen=Share(fold_hosts(unseen), len(unseen)), weight=about.weight, why=about.why, rules=item.rules,
    )  # fmt: skip
