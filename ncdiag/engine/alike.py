"""Ask one stand-in for all elements of a path that are alike (`ncdiag.facts.stand_in`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.facts.classes import Classes, classes_of
from ncdiag.facts.stand_in import Refusal, has_faces
from ncdiag.facts.view import View

FEW = 16
"""Fewer elements are judged one by one: comparing them would cost more than it saves."""
LEAST = 2
"""The size of a class for which a stand-in is asked."""


class Groups(msgspec.Struct, frozen=True):
    """Elements of a path, with the number of the class of each, the place of the first of each class, and its size."""

    classes: Classes
    items: Sequence[Any]
    numbers: Sequence[int]
    firsts: Mapping[int, int]
    sizes: Mapping[int, int]

    @classmethod
    def of(cls, items: Sequence[Any], view: View) -> Groups | None:
        """The groups of these elements; None where they are few, or hardly any two are alike."""
        if len(items) < FEW or not has_faces(type(items[0])):
            return None
        classes = classes_of(view)
        numbers = list(map(classes.number, items))
        sizes = Counter(numbers)
        if 2 * len(sizes) > len(items):
            return None
        firsts: dict[int, int] = {}
        for place, number in enumerate(numbers):
            firsts.setdefault(number, place)
        return cls(classes, items, numbers, firsts, sizes)

    def unsettled(
        self, settles: Callable[[Any, int], bool], is_decided: Callable[[], bool] = lambda: False
    ) -> Iterator[Any]:
        """The elements that have to be judged one by one, in order, until it is decided.

        ``settles(stand_in, size)`` judges the stand-in of a class of this size, and says whether that is the verdict on
        each member. It is called when the first of the class is reached, after what was yielded before was judged.
        """
        settled: dict[int, bool] = {}
        begin = len(self.items)
        for number, place in self.firsts.items():
            settled[number] = self._settles(place, settles)
            if not settled[number]:
                begin = place
                break
            if is_decided():
                return
        for place in range(begin, len(self.items)):
            number = self.numbers[place]
            if number not in settled:
                settled[number] = self._settles(place, settles)
            if not settled[number]:
                yield self.items[place]
            if is_decided():
                return

    def _settles(self, place: int, settles: Callable[[Any, int], bool]) -> bool:
        size = self.sizes[self.numbers[place]]
        if size < LEAST:
            return False
        try:
            return settles(self.classes.stand_in(self.items[place]), size)
        except (Refusal, Exception):  # noqa: BLE001  (whatever it raises, a member raises it again)
            return False
