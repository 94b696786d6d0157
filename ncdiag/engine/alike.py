"""Ask one stand-in for all elements of a path that are alike (`ncdiag.facts.stand_in`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.facts.classes import classes_of
from ncdiag.facts.stand_in import has_faces
from ncdiag.facts.view import View

FEW = 16
"""Fewer elements are judged one by one: comparing them would cost more than it saves."""


class Groups(msgspec.Struct, frozen=True):
    """Elements of a path, with the number of the class of each, the place of the first of each class, and its size."""

    items: Sequence[Any]
    numbers: Sequence[int]
    firsts: Mapping[int, int]
    sizes: Mapping[int, int]

    @classmethod
    def of(cls, items: Sequence[Any], view: View) -> Groups | None:
        """The groups of these elements; None where they are few, or hardly any two are alike."""
        if len(items) < FEW or not has_faces(type(items[0])):
            return None
        numbers = list(map(classes_of(view).number, items))
        sizes = Counter(numbers)
        if 2 * len(sizes) > len(items):
            return None
        firsts: dict[int, int] = {}
        for place, number in enumerate(numbers):
            firsts.setdefault(number, place)
        return cls(items, numbers, firsts, sizes)

    def unsettled(self, settles: Callable[[Any], bool]) -> Iterator[Any]:
        """The elements that have to be judged one by one, in order.

        ``settles`` judges the stand-in of an element, and says whether this settles the verdict on all of its class. It
        is called when the first of a class is reached, after what is yielded before was judged.
        """
        settled: dict[int, bool] = {}
        begin = len(self.items)
        for number, place in self.firsts.items():
            settled[number] = self.sizes[number] > 1 and settles(self.items[place])
            if not settled[number]:
                begin = place
                break
        for place in range(begin, len(self.items)):
            number = self.numbers[place]
            if number not in settled:
                settled[number] = self.sizes[number] > 1 and settles(self.items[place])
            if not settled[number]:
                yield self.items[place]
