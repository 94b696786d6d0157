"""Find the event that a text reports, by an index of literal words, so that the time does not depend on their number.

The messages are loaded compiled: neither TOML files nor templates are parsed when the program starts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator

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
_WORDS = 1 << 14
"""Words that are remembered with their first letter in lower case."""


class Match(msgspec.Struct, frozen=True):
    """A recognised text: the name of the event, the message that matched, and the converted values of its holes.

    The message has its meaning, next step and sample only if `ncdiag.messages.explained` found it. ``whole``: the
    message matches the text to its end, without a cut. ``loose``: only its words are there in order
    (`ncdiag.messages.loose`); holes that did not fit are missing.
    """

    event: str
    message: Message
    fields: dict[str, Value]
    whole: bool = True
    loose: bool = False


class Index(msgspec.Struct, frozen=True, array_like=True):
    """Compiled messages: the messages, still encoded, and the numbers of those to try for a word of the text.

    Each message is listed under its rarest whole word. ``numbered``, encoded as well, holds the words of the messages
    that have numbers in their literals, each number as a zero, by the longest of them.
    """

    messages: tuple[msgspec.Raw, ...]
    words: dict[str, tuple[int, ...]]
    numbered: msgspec.Raw

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Index:
        """Index ``messages``; each must have a literal word that touches no hole (`load_messages` checks this)."""
        held = tuple(messages)
        templates = [parse(message.text.strip()) for message in held]
        choices = list(map(whole_words, templates))
        frequency = Counter(word for choice in choices for word in set(choice))
        found: dict[str, list[int]] = {}
        for number, choice in enumerate(choices):
            word = min(choice, key=lambda word: (frequency[word], -len(word)))
            found.setdefault(word, []).append(number)
        encoded = tuple(map(_encoded, held))
        numbered = msgspec.Raw(msgspec.msgpack.encode(_numbered(zip(templates, choices, strict=True))))
        return cls(encoded, {word: tuple(numbers) for word, numbers in found.items()}, numbered)


_DEFAULTS: dict[str, object] = {
    "event": "", "text": "", "origin": "", "kind": None, "level": None, "versions": "", "file": None, "exact": False,
    "quiet": False, "meaning": "", "next": "", "sample": "",
}  # fmt: skip
_FIELDS = tuple(_DEFAULTS)
"""The fields of a complete message in the order of an index: those that most messages leave out are last."""


def _encoded(message: Message) -> msgspec.Raw:
    """The values of its fields without the defaults at the end, which takes less room in a wheel than their names."""
    values = [getattr(message, name) for name in _FIELDS]
    while values[-1] == _DEFAULTS[_FIELDS[len(values) - 1]]:
        values.pop()
    return msgspec.Raw(msgspec.msgpack.encode(values))


def _numbered(messages: Iterable[tuple[tuple[Part, ...], Collection[str]]]) -> dict[str, list[frozenset[str]]]:
    """The words of those messages, given by their parts and words, that have numbers in their literals."""
    found: dict[str, list[frozenset[str]]] = {}
    for parts, choice in messages:
        if any(isinstance(part, str) and _NUMBER.search(part) for part in parts):
            needed = _small(map(_shape, choice))
            longest = max(needed, key=lambda word: (not word.isdecimal(), len(word), word))
            found.setdefault(longest, []).append(needed)
    return found


class _Entry:
    """A decoded message; its pattern is compiled on first use."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.parts: tuple[Part, ...] = parse(message.text.strip())
        self.words = frozenset(whole_words(self.parts))
        self.small = _small(self.words)
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
        """The first match of the message in ``text``, at any position; None without one.

        A ``text`` hole at the beginning of a template matches any text before it. If such a template fails from the
        first character, it fails from every other, and trying them all would take time quadratic in the length of the
        text.
        """
        first = self.parts[0]
        from_start = isinstance(first, Hole) and first.type == "text"
        return self.pattern.match(text) if from_start else self.pattern.search(text)

    def fields(self, found: re.Match[str]) -> dict[str, Value]:
        return {hole.name: HOLES[hole.type].convert(found[hole.name]) for hole in self.holes}


class Matcher:
    """Finds messages in texts; a message is decoded only when a text contains its rarest word."""

    def __init__(self, messages: Iterable[Message] | Index) -> None:
        """Create a matcher for messages, or for an index of them."""
        self._index = messages if isinstance(messages, Index) else Index.of(messages)
        self._entries: dict[int, _Entry] = {}
        self._needed: dict[str, frozenset[frozenset[str]]] = {}

    def _entry(self, number: int) -> _Entry:
        entry = self._entries[number] = _Entry(self._message(number))
        return entry

    def _message(self, number: int) -> Message:
        values = msgspec.msgpack.decode(self._index.messages[number])
        return Message(**{**_DEFAULTS, **dict(zip(_FIELDS, values, strict=False))})

    def can_match(self, text: str) -> bool:
        """False if no message can match ``text``, not even loosely, since no message has all its words in it.

        Numbers may be missing.
        """
        said = _small(words(text.strip()[:LIMIT]))
        return any(needed <= said for word in said & self._rare for needed in self._needed_with(word))

    @functools.cached_property
    def _rare(self) -> frozenset[str]:
        return frozenset(self._rarest)

    @functools.cached_property
    def _rarest(self) -> dict[str, list[int]]:
        """The numbers of the messages by the words by which they are indexed, in either case of their first letter."""
        found: dict[str, list[int]] = {}
        for word, numbers in self._index.words.items():
            found.setdefault(word[:1].lower() + word[1:], []).extend(numbers)
        return found

    def _needed_with(self, rarest: str) -> frozenset[frozenset[str]]:
        """The words, without numbers, of the messages that are indexed by a word."""
        found = self._needed.get(rarest)
        if found is None:
            entries = (self._entries.get(number) or self._entry(number) for number in self._rarest[rarest])
            found = self._needed[rarest] = frozenset(
                frozenset(word for word in entry.small if not word.isdecimal()) for entry in entries
            )
        return found

    def may_depend_on_numbers(self, text: str) -> bool:
        """Might a text that differs from this one in its numbers only match another message?

        True if a message with a number in its literals has all its other words in the text.
        """
        said = _small(word if word.isalpha() else _shape(word) for word in words(text.strip()[:LIMIT]))
        return any(needed <= said for word in self._numbered.keys() & said for needed in self._numbered[word])

    @functools.cached_property
    def _numbered(self) -> dict[str, list[frozenset[str]]]:
        return msgspec.msgpack.decode(self._index.numbered, type=dict[str, list[frozenset[str]]])

    def match(
        self, text: str, origin: str | Container[str] | None = None, level: str | None = None, file: str | None = None
    ) -> Match | None:
        """Return the event that ``text`` reports from its first character on, None when no message matches.

        ``origin`` (one or several) and ``level`` restrict the messages. ``file`` is the path of the source file that
        printed the text, and decides between equal matches. A message that matches the whole text is preferred to one
        that leaves a rest, then the one with most literal characters, then the one whose spelling is identical.
        """
        return self._best(text.strip()[:LIMIT], _several(origin), level, file, anchored=True)

    def find(self, text: str, origin: str | Container[str] | None = None, level: str | None = None) -> Match | None:
        """Like `match`, but the message may begin anywhere in ``text`` (below a program's own prefix)."""
        return self._best(text.strip()[:LIMIT], _several(origin), level, None, anchored=False)

    def match_loosely(
        self, text: str, origin: str | Container[str] | None = None, level: str | None = None, *, anchored: bool = True
    ) -> Match | None:
        """Return the event whose words appear in ``text`` in order, with any text between.

        None when none has enough words.

        Of several, the one with most letters in its words is preferred, then the one with most holes that fit.
        """
        text = text.strip()[:LIMIT]
        said, origins = _small(words(text)), _several(origin)
        best: tuple[tuple[int, int], _Entry, dict[str, Value]] | None = None
        for number in sorted({number for word in said & self._rare for number in self._rarest[word]}):
            entry = self._entries.get(number) or self._entry(number)
            message = entry.message
            if (level and message.level and level != message.level) or (origins and message.origin not in origins):
                continue
            if message.exact or not entry.small <= said or not entry.shape.is_telling:
                continue
            found = fields(entry.shape, text, anchored=anchored)
            if found is not None and (best is None or (entry.shape.letters, len(found)) > best[0]):
                best = (entry.shape.letters, len(found)), entry, found
        if best is None:
            return None
        _, entry, found = best
        return Match(entry.message.event, entry.message, found, whole=False, loose=True)

    def messages(self) -> Iterator[Message]:
        """Yield all messages, decoded."""
        return map(self._message, range(len(self._index.messages)))

    def wordings(self, found: Match, text: str) -> list[Message]:
        """Return the messages of the same event that match the whole text, ``found`` first: releases differ little."""
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
        """Return the type of each hole name.

        Raises DefinitionError when two messages use a name for different types.
        """
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
    """The word with a zero in place of each number in it."""
    return _NUMBER.sub("0", word)


def _small(said: Iterable[str]) -> frozenset[str]:
    """The words with their first letter in lower case."""
    return frozenset(map(_small_word, said))


@functools.lru_cache(_WORDS)
def _small_word(word: str) -> str:
    return word[:1].lower() + word[1:]


def _several(origin: str | Container[str] | None) -> Container[str] | None:
    return (origin,) if isinstance(origin, str) else origin


def _cut_in_a_word(text: str, start: int, end: int) -> bool:
    """Does the match begin or end in the middle of a word?"""
    before = start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_") and text[start].isalnum()
    after = end < len(text) and (text[end].isalnum() or text[end] == "_") and end > 0 and text[end - 1].isalnum()
    return before or after


def _hole_types(entries: list[_Entry]) -> dict[str, str]:
    first: dict[str, tuple[str, Message]] = {}
    for entry in entries:
        for hole in entry.holes:
            known, message = first.setdefault(hole.name, (hole.type, entry.message))
            if _KINDS[known] != _KINDS[hole.type]:
                here, there = f"{hole.type} in [event.{entry.message.event}]", f"{known} in [event.{message.event}]"
                reason = f"the hole {hole.name!r} is {here} and {there}"
                hint = f"one name, one type: rename one of them, or change its type; the other text is: {message.text}"
                raise DefinitionError(reason, text=entry.message.text, hint=hint)
    return {name: kind for name, (kind, _) in first.items()}


_KINDS = {name: "str" if hole.convert is str else "float" if name == "float" else "int" for name, hole in HOLES.items()}
"""The type of the converted value; the hole types ``word`` and ``text`` are the same type for rules."""


def build() -> Index:
    """Compile ncdiag's own messages that are events of a job, without the fields that only people read."""
    return Index.of(recognised(message) for message in own_messages() if not message.quiet)


def recognised(message: Message) -> Message:
    """Return the message without the fields that only people read."""
    return msgspec.structs.replace(message, meaning="", next="", sample="")


def sources() -> Iterator[str]:
    """Yield the files that the compiled messages depend on."""
    return itertools.chain(compiled.files(FOLDER, ".toml"), compiled.files(FOLDER, ".py"))


def events() -> Index:
    """Return the index of ncdiag's own messages that are events of a job."""
    return compiled.load("messages", sources(), build, Index)


@functools.cache
def default_matcher() -> Matcher:
    """Return the matcher for ncdiag's own messages that are events of a job, without their meanings; built once."""
    return Matcher(events())
