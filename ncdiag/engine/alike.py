"""Ask one stand-in for all elements of a path that are alike (`ncdiag.facts.stand_in`)."""

from __future__ import annotations

import heapq
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ncdiag.facts.classes import Classes, classes_of
from ncdiag.facts.model import Fact
from ncdiag.facts.stand_in import Refusal, has_faces, kind_of
from ncdiag.facts.view import View

FEW = 16
"""Fewer elements are judged one by one: comparing them would cost more than it saves."""
LEAST = 2
"""The size of a class for which a stand-in is asked."""


def _differ(items: Sequence[Any]) -> bool:
    """True if most elements have a text of their own in one field, so that hardly any two are alike."""
    kind: type[Fact] = type(items[0])
    texts = (field for field in kind_of(kind).open if isinstance(getattr(items[0], field), str))
    return any(len(set(map(operator.attrgetter(field), items))) * 2 > len(items) for field in texts)


class Groups(msgspec.Struct, frozen=True):
    """Elements of a path, and the places of the members of each class, in the order of the first of each."""

    classes: Classes
    items: Sequence[Any]
    members: Sequence[Sequence[int]]

    @classmethod
    def of(cls, items: Sequence[Any], view: View) -> Groups | None:
        """The groups of these elements; None where they are few, or hardly any two are alike."""
        if len(items) < FEW or not has_faces(type(items[0])) or _differ(items):
            return None
        groups = cls.grouped(items, view)
        return groups if 2 * len(groups.members) <= len(items) else None

    @classmethod
    def grouped(cls, items: Sequence[Any], view: View) -> Groups:
        """The groups of these elements, however many there are."""
        classes = classes_of(view)
        places = defaultdict[int, list[int]](list)
        for place, number in enumerate(map(classes.number, items)):
            places[number].append(place)
        return cls(classes, items, [*places.values()])

    def unsettled(
        self, settles: Callable[[Any, int], bool], is_decided: Callable[[], bool] = lambda: False
    ) -> Iterator[Any]:
        """The elements that have to be judged one by one, in order, until it is decided.

        ``settles(stand_in, size)`` judges the stand-in of a class of this size, and says whether that is the verdict on
        each member. It is called when the first of the class is reached, after what was yielded before was judged.
        """
        waiting = [(members[0], group, 0) for group, members in enumerate(self.members)]  # sorted: it is a heap
        while waiting:
            place, group, before = heapq.heappop(waiting)
            members = self.members[group]
            if before or not self._settles(members, settles):
                yield self.items[place]
                if before + 1 < len(members):
                    heapq.heappush(waiting, (members[before + 1], group, before + 1))
            if is_decided():
                return

    def _settles(self, members: Sequence[int], settles: Callable[[Any, int], bool]) -> bool:
        if len(members) < LEAST:
            return False
        try:
            return settles(self.classes.stand_in(self.items[members[0]]), len(members))
        except (Refusal, Exception):  # noqa: BLE001  (whatever it raises, a member raises it again)
            return False
