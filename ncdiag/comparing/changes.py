"""Compare two jobs: the changes, most important first, and the number of equal items.

A host is compared with the one of the same name. If no name is common, a single host is compared with a single host;
with several hosts, a value counts as changed if no host had it before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.checks.compared import book
from ncdiag.comparing.readers import folded
from ncdiag.comparing.values import JOB, Groups, Subject, Table
from ncdiag.comparing.weights import ORDER, Importance, importance
from ncdiag.facts.fold import fold_hosts
from ncdiag.report.differences import Change

_NUMBER = lazy_regex(r"-?\d{1,18}(?:\.\d{1,9})?(?:e[-+]?\d{1,2})?")
_SHOWN = 3
"""Maximum number of earlier values that are named if there is no host to compare with."""


class Changes(NamedTuple):
    """The differences, the number of equal items, and of items that only one of the two has."""

    changes: tuple[Change, ...]
    equal: int
    one_sided: int


class _Move(NamedTuple):
    """Hosts with the same change, in subjects of one item with the same weight."""

    number: int
    about: Importance
    was: str
    now: str
    hosts: tuple[str, ...]


class Pairing(NamedTuple):
    """The earlier host with which each later host is compared."""

    partners: Mapping[str, str]
    is_known: bool

    @classmethod
    def of(cls, before: Iterable[str], after: Iterable[str]) -> Pairing:
        """By name; else a single host with a single host; else no host has a partner."""
        old, new = list(before), list(after)
        common = {name: name for name in set(old) & set(new)}
        if not common and len(old) == 1 and len(new) == 1:
            common = {new[0]: old[0]}
        return cls({**common, JOB: JOB}, bool(common))


def changes(before: Table, after: Table, pairing: Pairing) -> Changes:
    """Compare two tables. Subjects of one item with the same change are merged into one."""
    names: dict[_Move, list[str]] = {}
    equal = one_sided = 0
    for subject in dict.fromkeys([*before, *after]):
        old, new = before.get(subject), after.get(subject)
        if old is None or new is None:
            one_sided += 1
            continue
        moves, compared = _moves(subject, old, new, pairing)
        for (was, now), hosts in moves.items():
            move = _Move(subject.number, importance(subject), was, now, tuple(hosts))
            names.setdefault(move, []).append(subject.name)
        equal += compared and not moves
        one_sided += not compared
    found = [_change(move, called) for move, called in names.items()]
    found.sort(key=lambda one: ORDER[one.weight])
    return Changes(tuple(found), equal, one_sided)


def _moves(
    subject: Subject, old: Groups, new: Groups, pairing: Pairing
) -> tuple[dict[tuple[str, str], list[str]], bool]:
    """The hosts by (earlier value, present value) if these differ; and whether anything was compared."""
    alike = _alike(subject)
    of_host = {host: value for value, hosts in old.items() for host in hosts}
    moves: dict[tuple[str, str], list[str]] = {}
    compared = False
    for now, hosts in new.items():
        known = any(alike(was, now) for was in old)
        for host in hosts:
            partner = pairing.partners.get(host)
            if partner is not None:
                was = of_host.get(partner)
                if was is None:
                    continue  # no earlier value
                same = alike(was, now)
            elif pairing.is_known and len(old) > 1:
                continue  # a new host, and the known hosts differ among themselves
            else:
                was, same = _any_of(old), known
            compared = True
            if not same:
                moves.setdefault((was, now), []).append(host)
    return moves, compared


def _any_of(groups: Groups) -> str:
    """``A or B``: the most frequent values."""
    most = sorted(groups, key=lambda value: (-len(groups[value]), value))
    more = f" or {len(most) - _SHOWN} more" if len(most) > _SHOWN else ""
    return " or ".join(most[:_SHOWN]) + more


def _alike(subject: Subject) -> Callable[[str, str], bool]:
    share = subject.item.tolerance
    if not share:
        return str.__eq__

    def close(one: str, other: str) -> bool:
        a, b = leading(one), leading(other)
        return one == other or (a is not None and b is not None and abs(a - b) <= share * max(abs(a), abs(b)))

    return close


def leading(text: str) -> float | None:
    """The number at the start of a value."""
    found = _NUMBER.match(text)
    return float(found[0]) if found else None


def _change(move: _Move, names: Sequence[str]) -> Change:
    item, named = book().item[move.number], [host for host in move.hosts if host != JOB]
    return Change(
        what=item.what, name=folded(names) if len(names) > 1 else names[0], before=move.was,
        after=move.now,
        hosts=fold_hosts(named), nhosts=len(named), weight=move.about.weight, why=move.about.why,
        rules=item.rules, change=_share(move.was, move.now) if item.tolerance else None,
    )  # fmt: skip


def _share(was: str, now: str) -> float | None:
    """The relative change of a number: -0.5 is half."""
    a, b = leading(was), leading(now)
    return round(b / a - 1, 3) if a and b is not None else None


def ranked(found: Iterable[Change]) -> Iterator[Change]:
    """Sort by importance; equal ones keep their order."""
    yield from sorted(found, key=lambda one: ORDER[one.weight])
