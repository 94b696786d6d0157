"""All messages, normal ones too, with what they mean: `ncdiag explain` shows it, and no job needs it.

The messages that are events of a job, and what an event means, are stored elsewhere; only what these lack is kept here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from ncdiag.base import compiled
from ncdiag.messages import about
from ncdiag.messages.load import own_messages
from ncdiag.messages.match import Index, Matcher, events, recognised, sources
from ncdiag.messages.message import Message

Note = tuple[str | None, str | None, str]
"""Meaning and next step of a message, if they differ from those of its event, and its sample."""


class Explained(msgspec.Struct, frozen=True, array_like=True):
    """What `full_matcher` has beyond `ncdiag.messages.match.events` and `ncdiag.messages.about`.

    ``notes``: what is said of each message. ``quiet``: those that are no events of a job; ``places``: their numbers
    among all.
    """

    notes: tuple[Note, ...]
    places: tuple[int, ...]
    quiet: Index


def build() -> Explained:
    """Compile what `full_matcher` needs."""
    found = tuple(own_messages())
    known = about.build().events
    return Explained(
        tuple(
            (
                None if message.meaning == known[message.event].meaning else message.meaning,
                None if message.next == known[message.event].next else message.next,
                message.sample,
            )
            for message in found
        ),
        tuple(number for number, message in enumerate(found) if message.quiet),
        Index.of(recognised(message) for message in found if message.quiet),
    )


class _Matcher(Matcher):
    """A matcher whose messages have their notes."""

    def __init__(self, index: Index, notes: tuple[Note, ...]) -> None:
        super().__init__(index)
        self._notes = notes

    def _message(self, number: int) -> Message:
        message, (meaning, step, sample) = super()._message(number), self._notes[number]
        known = about.entry(message.event)
        return msgspec.structs.replace(
            message,
            meaning=known.meaning if meaning is None else meaning,
            next=known.next if step is None else step,
            sample=sample,
        )


@functools.cache
def full_matcher() -> Matcher:
    """Return the matcher for all messages, including normal ones, with their meanings; `explain` uses it."""
    kept = compiled.load("explained", sources(), build, Explained)
    count, quiet = len(kept.notes), frozenset(kept.places)
    rest = [number for number in range(count) if number not in quiet]
    return _Matcher(joined({tuple(kept.places): kept.quiet, tuple(rest): events()}), kept.notes)


def joined(indexes: Mapping[tuple[int, ...], Index]) -> Index:
    """One index of several, each given with the numbers that its messages have among all."""
    messages: dict[int, msgspec.Raw] = {}
    words: dict[str, list[int]] = {}
    numbered: dict[str, list[list[str]]] = {}
    for places, index in indexes.items():
        messages |= dict(zip(places, index.messages, strict=True))
        for word, numbers in index.words.items():
            words.setdefault(word, []).extend(places[number] for number in numbers)
        for word, needed in msgspec.msgpack.decode(index.numbered, type=dict[str, list[list[str]]]).items():
            numbered.setdefault(word, []).extend(needed)
    return Index(
        tuple(messages[number] for number in sorted(messages)),
        {word: tuple(sorted(numbers)) for word, numbers in words.items()},
        msgspec.Raw(msgspec.msgpack.encode(numbered)),
    )
