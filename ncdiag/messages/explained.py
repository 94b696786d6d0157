"""All messages, normal ones too, with what they mean: `ncdiag explain` shows it, and no job needs it.

The messages that are events of a job, and what an event means, are stored elsewhere; only what these lack is kept here.
"""

from __future__ import annotations

import functools

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

    ``notes``: what is said of each message. ``quiet``: the encoded messages that are no events of a job, by number.
    ``words`` and ``numbered`` are those of the `Index` of all messages.
    """

    notes: tuple[Note, ...]
    quiet: dict[int, msgspec.Raw]
    words: dict[str, tuple[int, ...]]
    numbered: msgspec.Raw


def build() -> Explained:
    """Compile what `full_matcher` needs."""
    found = tuple(own_messages())
    index = Index.of(map(recognised, found))
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
        {number: index.messages[number] for number, message in enumerate(found) if message.quiet},
        index.words,
        index.numbered,
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
    rest = iter(events().messages)
    messages = tuple(kept.quiet[n] if n in kept.quiet else next(rest) for n in range(len(kept.notes)))
    return _Matcher(Index(messages, kept.words, kept.numbered), kept.notes)
