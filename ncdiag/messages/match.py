"""Which event does a text tell? The messages are found by a literal word, so their number does not matter.

They are read compiled: neither TOML nor the templates are looked at when the program starts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError
from ncdiag.base.patterns import lazy_regex
from ncdiag.messages.load import FOLDER, own_messages
from ncdiag.messages.loose import Shape, fields, shape
from ncdiag.messages.message import Message
from ncdiag.messages.template import (
    HOLES,
    LIMIT,
    Hole,
    Part,
    Value,
    compile_parts,
    parse,
    whole_words,
    words,
)  # fmt: skip

_NUMBER = lazy_regex(r"\d+")
_ANSWERS = 4096
"""Sets of words of which is kept whether a message can be in them."""


class Match(msgspec.Struct, frozen=True):
    """A text recognised: the event's name, the message that matched and the converted values of its holes.

    The message has its meaning, next step and sample only where `full_matcher` found it.
    ``whole``: the message fits the text to its end; nothing more follows, and nothing was cut off of a longer one.
    ``loose``: only its words are there in order (`ncdiag.messages.loose`); holes that did not fit are missing.
    """

    event: str
    message: Message
    fields: dict[str, Value]
    whole: bool = True
    loose: bool = False


class Index(msgspec.Struct, frozen=True, array_like=True):
    """Messages, still encoded, and the numbers of those to try by the rarest whole word of each: what is compiled."""

    messages: tuple[msgspec.Raw, ...]
    words: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Index:
        """Index ``messages``; each must have a literal word that touches no hole (`load_messages` sees to it)."""
        held = tuple(messages)
        choices = [whole_words(parse(message.text.strip())) for message in held]
        frequency = Counter(word for choice in choices for word in set(choice))
        found: dict[str, list[int]] = {}
        for number, choice in enumerate(choices):
            word = min(choice, key=lambda word: (frequency[word], -len(word)))
            found.setdefault(word, []).append(number)
        encoded = tuple(msgspec.Raw(msgspec.msgpack.encode(message)) for message in held)
        return cls(encoded, {word: tuple(numbers) for word, numbers in found.items()})


class _Entry:
    """A message ready to be tried; its pattern is compiled on first use."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.parts: tuple[Part, ...] = parse(message.text.strip())
        self.words = frozenset(whole_words(self.parts))
        self.lettered = frozenset(word for word in self.words if not word.isdecimal())
        self.literals = [part for part in self.parts if isinstance(part, str)]
        self.weight = sum(len(literal.replace(" :", ":")) for literal in self.literals)
        self.holes = [part for part in self.parts if isinstance(part, Hole)]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        return compile_parts(self.parts)

    @functools.cached_property
    def shape(self) -> Shape:
        return shape(self.parts)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where the message stands in ``text``.

        A ``text`` hole at its beginning holds whatever comes before: where that fails from the first character, it
        fails from every other, and trying them all would take the square of the text's length.
        """
        first = self.parts[0]
        from_start = isinstance(first, Hole) and first.type == "text"
        return self.pattern.match(text) if from_start else self.pattern.search(text)

    def fields(self, found: re.Match[str]) -> dict[str, Value]:
        return {hole.name: HOLES[hole.type].convert(found[hole.name]) for hole in self.holes}


class Matcher:
    """The messages, each decoded and made ready only when a text holds its rarest word."""

    def __init__(self, messages: Iterable[Message] | Index) -> None:
        """Take messages, or an index of them."""
        self._index = messages if isinstance(messages, Index) else Index.of(messages)
        self._entries: dict[int, _Entry] = {}
        self._answers: dict[frozenset[str], bool] = {}

    def _entry(self, number: int) -> _Entry:
        message = msgspec.msgpack.decode(self._index.messages[number], type=Message)
        entry = self._entries[number] = _Entry(message)
        return entry

    def can_match(self, text: str) -> bool:
        """False if no message can be found in ``text``, be it loosely: the words of none are all there.

        Lines of a table or a counter share their words; only numbers differ. Their answer is kept.
        """
        index, spoken = self._index.words, words(text.strip()[:LIMIT])
        if self._rarest.isdisjoint(spoken):
            return False
        said = frozenset(word for word in spoken if not word.isdecimal() or word in index)
        known = self._answers.get(said)
        if known is None:
            if len(self._answers) >= _ANSWERS:
                self._answers.clear()
            known = self._answers[said] = self._has_words_of_one(said)
        return known

    @functools.cached_property
    def _rarest(self) -> frozenset[str]:
        """The words by which messages are found, with either first letter."""
        return frozenset(self._index.words) | _first_letter_changed(self._index.words)

    def may_depend_on_numbers(self, text: str) -> bool:
        """True if a message that names a number may be in a text that differs from this one in its numbers alone."""
        said = {word if word.isalpha() else _shape(word) for word in words(text.strip()[:LIMIT])}
        if self._numbered_words.isdisjoint(said):
            return False
        held = said | _first_letter_changed(said)
        return any(needed <= held for word in self._numbered.keys() & held for needed in self._numbered[word])

    @functools.cached_property
    def _numbered(self) -> dict[str, list[frozenset[str]]]:
        """The words of the messages in whose literals a number stands, all numbers as zeros, by the longest of them."""
        found: dict[str, list[frozenset[str]]] = {}
        for message in self.messages():
            parts = parse(message.text.strip())
            if any(isinstance(part, str) and _NUMBER.search(part) for part in parts):
                needed = frozenset(map(_shape, whole_words(parts)))
                longest = max(needed, key=lambda word: (not word.isdecimal(), len(word), word))
                found.setdefault(longest, []).append(needed)
        return found

    @functools.cached_property
    def _numbered_words(self) -> frozenset[str]:
        return frozenset(self._numbered) | _first_letter_changed(self._numbered)

    def _has_words_of_one(self, said: frozenset[str]) -> bool:
        held = said | _first_letter_changed(said)
        return any(
            (self._entries.get(number) or self._entry(number)).lettered <= held
            for word in self._index.words.keys() & held
            for number in self._index.words[word]
        )

    def match(
        self, text: str, origin: str | Container[str] | None = None, level: str | None = None, file: str | None = None
    ) -> Match | None:
        """The event that ``text`` tells from its first character on, None when no message fits.

        ``origin`` (one or several) and ``level`` narrow the choice; ``file`` is the source file that printed it, as a
        path, and decides between equals. A message that fits the whole text wins over one that leaves something behind
        it, then the one with most literal characters, then the one that is spelled just so.
        """
        return self._best(text.strip()[:LIMIT], _several(origin), level, file, anchored=True)

    def find(self, text: str, origin: str | Container[str] | None = None, level: str | None = None) -> Match | None:
        """Like `match`, but the message may begin anywhere in ``text`` (below a program's own prefix)."""
        return self._best(text.strip()[:LIMIT], _several(origin), level, None, anchored=False)

    def match_loosely(
        self, text: str, origin: str | Container[str] | None = None, level: str | None = None, *, anchored: bool = True
    ) -> Match | None:
        """The event whose words stand in ``text`` in order, whatever is between them; None when none has enough.

        Of several the one with most letters in its words is taken, then the one most of whose holes fit.
        """
        text = text.strip()[:LIMIT]
        said, index, origins = words(text), self._index.words, _several(origin)
        held = {*said, *_first_letter_changed(said)}
        best: tuple[tuple[int, int], _Entry, dict[str, Value]] | None = None
        for number in sorted({number for word in index.keys() & held for number in index[word]}):
            entry = self._entries.get(number) or self._entry(number)
            message = entry.message
            if (level and message.level and level != message.level) or (origins and message.origin not in origins):
                continue
            if not entry.words <= held or not entry.shape.is_telling:
                continue
            found = fields(entry.shape, text, anchored=anchored)
            if found is not None and (best is None or (entry.shape.letters, len(found)) > best[0]):
                best = (entry.shape.letters, len(found)), entry, found
        if best is None:
            return None
        _, entry, found = best
        return Match(entry.message.event, entry.message, found, whole=False, loose=True)

    def messages(self) -> Iterator[Message]:
        """All messages."""
        return (msgspec.msgpack.decode(packed, type=Message) for packed in self._index.messages)

    def wordings(self, found: Match, text: str) -> list[Message]:
        """The messages of the same event that fit the whole text, that of ``found`` first: releases differ little."""
        said, index = words(text), self._index.words
        text, message = text.strip()[:LIMIT], found.message
        alike = [message]
        for number in sorted({number for word in index.keys() & said for number in index[word]}):
            entry = self._entries.get(number) or self._entry(number)
            other = entry.message
            if other != message and (other.event, other.origin) == (found.event, message.origin):
                alike += [other] if entry.pattern.fullmatch(text) else []
        return alike

    def hole_types(self) -> dict[str, str]:
        """Type of every hole name; DefinitionError when two messages use one name for two types of value."""
        return _hole_types([self._entry(number) for number in range(len(self._index.messages))])

    def _best(
        self, text: str, origin: Container[str] | None, level: str | None, file: str | None, *, anchored: bool
    ) -> Match | None:
        best: tuple[tuple[bool, int, bool, bool], _Entry, re.Match[str]] | None = None
        said, index = words(text), self._index.words
        numbers = [number for word in index.keys() & said for number in index[word]]
        held = frozenset(said if numbers else ())
        for number in sorted(numbers):
            entry = self._entries.get(number) or self._entry(number)
            if not entry.words <= held:
                continue
            message = entry.message
            if level is not None and message.level is not None and level != message.level:
                continue
            if origin is not None and message.origin not in origin:
                continue
            found = entry.pattern.match(text) if anchored else entry.search(text)
            if found is None or _cut_in_a_word(text, found.start(), found.end()):
                continue
            same_file = file is not None and message.file is not None and file.endswith(message.file)
            spelled_so = all(literal.strip() in text for literal in entry.literals)
            rank = found.end() == len(text), entry.weight, spelled_so, same_file
            if best is None or rank > best[0]:
                best = rank, entry, found
        if best is None:
            return None
        (whole, *_), entry, found = best
        return Match(entry.message.event, entry.message, entry.fields(found), whole)


def _shape(word: str) -> str:
    """The word with a zero for each number in it."""
    return _NUMBER.sub("0", word)


def _first_letter_changed(said: Iterable[str]) -> frozenset[str]:
    """The words with their first letter small instead of large, and the other way round."""
    return frozenset(word[:1].swapcase() + word[1:] for word in said)


def _several(origin: str | Container[str] | None) -> Container[str] | None:
    return (origin,) if isinstance(origin, str) else origin


def _cut_in_a_word(text: str, start: int, end: int) -> bool:
    """Tell whether the match begins or ends in the middle of a word."""
    before = start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_") and text[start].isalnum()
    after = end < len(text) and (text[end].isalnum() or text[end] == "_") and end > 0 and text[end - 1].isalnum()
    return before or after


def _hole_types(entries: list[_Entry]) -> dict[str, str]:
    types: dict[str, str] = {}
    for entry in entries:
        for hole in entry.holes:
            known = _KINDS[hole.type]
            if _KINDS[types.setdefault(hole.name, hole.type)] != known:
                reason = f"the hole {hole.name!r} is {hole.type} here and {types[hole.name]} elsewhere"
                raise DefinitionError(reason, text=entry.message.text, hint="one name, one type: rename one of them")
    return types


_KINDS = {name: "str" if hole.convert is str else "float" if name == "float" else "int" for name, hole in HOLES.items()}
"""What the converted value is; ``word`` here and ``text`` there is the same type to a rule."""


def build(*, explained: bool) -> Index:
    """Ncdiag's own messages: those that are events of a job, or all of them with what each means.

    What an event means and what to do next is in `ncdiag.messages.about`; only `explain` shows it for one wording.
    """
    found = own_messages()
    return Index.of(found if explained else (_recognised(message) for message in found if not message.quiet))


def _recognised(message: Message) -> Message:
    """The message without what only a person reads."""
    return msgspec.structs.replace(message, meaning="", next="", sample="")


def sources() -> Iterator[str]:
    """The files on which compiled messages depend."""
    return itertools.chain(compiled.files(FOLDER, ".toml"), compiled.files(FOLDER, ".py"))


@functools.cache
def default_matcher() -> Matcher:
    """The matcher over those of ncdiag's own messages that are events of a job, without their meanings; built once."""
    return Matcher(compiled.load("messages", sources(), lambda: build(explained=False), Index))


@functools.cache
def full_matcher() -> Matcher:
    """The matcher over all messages, normal ones included, with their meanings: what `explain` uses."""
    return Matcher(compiled.load("all-messages", sources(), lambda: build(explained=True), Index))
