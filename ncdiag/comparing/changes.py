"""Two jobs side by side: what changed, the most important first; equal things are counted.

A host is set beside the one of its name. Where no name is common, one host alone is set beside the other, and of many
a value counts as changed that no host before shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.checks.compared import book
from ncdiag.comparing.readers import folded
from ncdiag.comparing.values import JOB, Groups, Subject, Table
from ncdiag.comparing.weights import ORDER, Importance, importance
from ncdiag.facts.fold import fold_hosts
from ncdiag.report.differences import Change

_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?(?:e[-+]?\d{1,2})?")
_SHOWN = 3
"""Values of the hosts before that are named where none of them is the one that is set beside."""


class Changes(NamedTuple):
    """What differs, how many things are equal, and how many only one of the two shows."""

    changes: tuple[Change, ...]
    equal: int
    one_sided: int


class _Move(NamedTuple):
    """Hosts that changed alike, in subjects of one item that matter alike."""

    number: int
    about: Importance
    was: str
    now: str
    hosts: tuple[str, ...]


class Pairing(NamedTuple):
    """Which host before is set beside a host after."""

    partners: Mapping[str, str]
    is_known: bool

    @classmethod
    def of(cls, before: Iterable[str], after: Iterable[str]) -> Pairing:
        """By name; one host alone beside another one; else nobody has a partner."""
        old, new = list(before), list(after)
        common = {name: name for name in set(old) & set(new)}
        if not common and len(old) == 1 and len(new) == 1:
            common = {new[0]: old[0]}
        return cls({**common, JOB: JOB}, bool(common))


def changes(before: Table, after: Table, pairing: Pairing) -> Changes:
    """Set two tables side by side. Subjects of one item that changed alike are one change."""
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
    """The hosts by what they showed before and show now, where that differs; and whether anything was compared."""
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
                    continue  # not seen before
                same = alike(was, now)
            elif pairing.is_known and len(old) > 1:
                continue  # a new host beside known ones that differ among themselves
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
    """The number with which a value begins."""
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
    """By how much a number changed, as a share of what it was: -0.5 is half."""
    a, b = leading(was), leading(now)
    return round(b / a - 1, 3) if a and b is not None else None


def ranked(found: Iterable[Change]) -> Iterator[Change]:
    """The most important first, in their order."""
    yield from sorted(found, key=lambda one: ORDER[one.weight])
