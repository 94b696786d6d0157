"""Take off what shells, loggers, mailers and chats put around a paste, layer by layer, in any order and depth.

A layer comes off a block of lines when the block reads better without it, or when nothing else can be meant (line
numbers that count up). Two layers of which neither tells anything alone come off together. Whoever asks measures how
well a text reads; the numbers of lines stay.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections import unwrap
from ncdiag.text.sections.between import set_apart
from ncdiag.text.sections.flattened import in_rows
from ncdiag.text.sections.frames import FRAMES, stripped
from ncdiag.text.sections.heads import HEADS, Head
from ncdiag.text.sections.html_tables import HtmlTables
from ncdiag.text.sections.line import Line, lines_of
from ncdiag.text.sections.listed import rejoined
from ncdiag.text.sections.markup import MARKUP, Markup, tidied
from ncdiag.text.sections.unwrap import Reach

LIMIT = 1 << 18
"""Bytes; what was not pasted by hand is longer, and is one tool's."""
DEPTH = 6
"""Layers on top of each other."""
ROOM = 3 << 20
"""Characters that are read to find out what reads better."""
BLOCKS = 24
"""Maximum number of blocks of one layer that are checked."""

Said = tuple[str, str, str, str, str]
"""A value that was understood: what it is of (a type, a host, a name), its field and its text."""
Measure = Callable[[Sequence[Line], bool], frozenset[Said]]
"""What lines say. True: what is said of settings and commands counts for nothing."""
PLACES = 400
"""Maximum number of places of a text at which a broken line is looked for."""
_SOUND = 8
"""Of so many such places, all but one must read no worse with the line in one, if the text was broken at a width."""
_TRIED = 40
"""As many such places of which none says more in one: these lines were not broken."""
_TOGETHER = 4
"""Of so many such places it is first seen what they say together."""
_PLAINLY = 3
"""Lines of one width in a row that show a break at that width, so that a line in one may also say less of something."""
_EVENT, _LAUNCH = "Event", "Launch"
_MANY = 200
"""Lines of which all are read to find out what they say."""
_ALIKE, _OF_FORM, _SHAPE = 4, 24, 240
"""Maximum number of lines read in a longer block: of lines that differ only in words with digits, and of lines that
differ only in words; and the number of characters of a line that are compared."""
_SAMPLED, _FOLLOWING = 5, 3
"""Minimum ratio of the lines of a long block to those of its sample, and number of lines after each typical one."""
_ZEROS = str.maketrans("123456789", "0" * 9)
_NUMBERED, _WORD = lazy_regex(r"\b[^\W\d]*\d\w*"), lazy_regex(r"\w+")
GENERAL = frozenset({
    "python-exception", "torch-last-error", "progress-step", "process-exit", "slurm-job-completed", "slurm-job-runs",
})  # fmt: skip
"""Events of which the form of a line or a few words tell, which any part of a line may hold."""


_COUNTERS = frozenset({"progress-step", "progress-bar"})


class Layer(Protocol):
    """What may lie on the lines of a block."""

    @property
    def doubtful(self) -> bool:
        """True if a layer of this look may be a comment or a list."""

    @property
    def sure(self) -> bool:
        """True if nothing else looks like it: it comes off unless the block says less without it."""

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """Where it lies: beginnings and ends."""

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines of a block without it."""


LAYERS: tuple[Layer, ...] = (*HEADS, *FRAMES, HtmlTables(), *MARKUP)


def joined(buffers: Iterable[bytes]) -> Iterator[bytes]:
    """The buffers, those of a short text as one: a paste without a line end comes in two."""
    held = b""
    for buffer in buffers:
        if held and len(held) + len(buffer) > LIMIT:
            yield held
            held = b""
        held += buffer
    if held:
        yield held


def undressed(text: str, measure: Measure) -> list[Line]:
    """The lines of a paste without what was put around them."""
    lines = set_apart(in_rows(lines_of(tidied(text))))
    return _Undresser(measure, lines).best_of_lists(lines)


def typical(lines: Sequence[Line]) -> frozenset[int]:
    """The numbers of lines that represent all: the first few of those that are alike."""
    texts = "\n".join(line.text[:_SHAPE] for line in lines).translate(_ZEROS).split("\n")
    unlike = dict.fromkeys(texts)
    shapes = _NUMBERED.sub("0", "\n".join(unlike))
    forms = _WORD.sub("a", shapes)
    of_text = dict(zip(unlike, zip(shapes.split("\n"), forms.split("\n"), strict=True), strict=True))
    seen: Counter[str] = Counter()
    numbers = []
    for line, text in zip(lines, texts, strict=True):
        shape, form = of_text[text]
        seen[shape] += 1
        if seen[shape] > _ALIKE:
            continue
        seen[form] += 1
        if seen[form] <= _OF_FORM:
            numbers.append(line.number)
    return frozenset(numbers)


class _Undresser:
    """Tries layer after layer, and remembers what each text says."""

    def __init__(self, measure: Measure, lines: Sequence[Line]) -> None:
        self._measure, self._lines = measure, lines
        self._known: dict[tuple[bool, str], frozenset[Said]] = {}
        self._room = ROOM

    @functools.cached_property
    def _typical(self) -> frozenset[int]:
        return typical(self._lines)

    def _read(self, lines: Sequence[Line], *, doubtful: bool) -> frozenset[Said]:
        return self._read_all(self._few(lines), doubtful=doubtful)

    def _read_all(self, lines: Sequence[Line], *, doubtful: bool) -> frozenset[Said]:
        key = doubtful, "\n".join(f"{line.stream}\t{line.head}\t{line.text}" for line in lines)
        if key not in self._known:
            self._room -= len(key[1])
            self._known[key] = self._measure(lines, doubtful)
        return self._known[key]

    def _few(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Of many lines, those that represent all: the typical ones of the text, or else those of the block."""
        if len(lines) <= _MANY:
            return lines
        few = [line for line in lines if line.number in self._typical]
        own = () if few else typical(lines)
        return few or [line for line in lines if line.number in own]

    def best_of_lists(self, lines: list[Line]) -> list[Line]:
        """The best lines; with the lists of NCCL on one line each where they say more so.

        A width that broke the text may also have broken it at an entry, and is then seen only in the lines as they are.
        """
        found, whole = self.best(lines), rejoined(lines)
        if len(whole) == len(lines):
            return found
        other = self.best(whole)
        return other if self._is_better(other, found, doubtful=False, sure=False) else found

    def best(self, lines: list[Line], *, doubtful: bool = False, depth: int = 0, broken: bool = True) -> list[Line]:
        """The lines without the layers without which they say most.

        ``broken``: they may have been broken at a width.
        """
        lines = stripped(lines)
        if depth >= DEPTH or self._room < 0:
            return lines
        found = self._bare(lines, doubtful=doubtful, depth=depth, broken=broken)
        for guess, sure in self._guesses(lines, doubtful=doubtful) if broken else ():
            other = self.best(guess, doubtful=doubtful, depth=depth + 1, broken=False)
            if self._is_better(other, found, doubtful=doubtful, sure=sure):
                found = other
        return found

    def _is_better(self, lines: Sequence[Line], before: Sequence[Line], *, doubtful: bool, sure: bool) -> bool:
        """True if the lines say more than before, or not less where nothing else can be meant."""
        return gain(self._read(lines, doubtful=doubtful), self._read(before, doubtful=doubtful)) + sure > 0

    def _bare(self, lines: list[Line], *, doubtful: bool, depth: int, broken: bool) -> list[Line]:
        """Without layers: block after block, from the last, so that the places of the others stay."""
        few, text = self._few(lines), ""
        for layer in LAYERS:
            if isinstance(layer, Head) and not layer.is_on_any(few):
                continue
            if isinstance(layer, Markup):
                text = text or "\n".join(line.text for line in lines)
                if layer.literal not in text:
                    continue
            for start, end in itertools.islice(reversed(layer.blocks(lines)), BLOCKS):
                block = lines[start:end]
                less = doubtful or (layer.doubtful and not unwrap.is_log(block))
                if not self._is_worth_removing(layer, block, doubtful=less, depth=depth, broken=broken):
                    continue
                bare = layer.removed(block)
                if bare == block or self._room < 0:
                    continue
                bare = self.best(bare, doubtful=less, depth=depth + 1, broken=broken)
                if self._is_better(bare, block, doubtful=less, sure=layer.sure):
                    lines, text = [*lines[:start], *bare, *lines[end:]], ""
        return lines

    def _is_worth_removing(
        self, layer: Layer, block: Sequence[Line], *, doubtful: bool, depth: int, broken: bool
    ) -> bool:
        """False if the sample of a long block says no more without the layer, whatever else comes off with it."""
        if len(block) <= _MANY:
            return True
        sample = self._sample(block)
        if len(sample) * _SAMPLED > len(block) or not any(line.text.strip() for line in sample):
            return True
        bare = layer.removed(sample)
        if bare == sample or self._room < 0:
            return True
        bare = self.best(bare, doubtful=doubtful, depth=depth + 1, broken=broken)
        return self._is_better(bare, sample, doubtful=doubtful, sure=layer.sure)

    def _sample(self, block: Sequence[Line]) -> list[Line]:
        """The typical lines of a block, each with those after it in which it may go on."""
        few = {line.number for line in self._few(block)}
        typical = [index for index, line in enumerate(block) if line.number in few]
        indexes = {place for index in typical for place in range(index, index + _FOLLOWING + 1)}
        return [block[index] for index in sorted(indexes) if index < len(block)]

    def _guesses(self, lines: list[Line], *, doubtful: bool) -> Iterator[tuple[list[Line], bool]]:
        """With those lines in one that may have been broken: all that reach one width, then all that gain by it.

        Each with True if nothing else can be meant: it is taken unless the text says less so.
        """
        gaining: dict[int, tuple[int, unwrap.Whole]] = {}
        for wholes, reach in unwrap.guesses(lines):
            looked_at, may_go_on = self._looked_at(lines, wholes, reach=reach, doubtful=doubtful)
            for more, whole in looked_at:
                if reach is not Reach.WITHIN and more > gaining.get(whole[0], (0,))[0]:
                    gaining[whole[0]] = more, whole
            sound = [whole for more, whole in looked_at if more >= 0]
            gained = any(more > 0 for more, _ in looked_at)
            goes_on = may_go_on and any(
                self._goes_on(lines, whole, doubtful=doubtful) for more, whole in looked_at[:PLACES] if more == 0
            )
            breaks = sum(end - start - 1 for start, end, _ in sound) if gained or goes_on else len(sound)
            enough = unwrap.FEW if gained and len(sound) == len(looked_at) else unwrap.ENOUGH
            if reach and breaks >= enough and len(sound) * _SOUND >= len(looked_at) * (_SOUND - 1):
                yield unwrap.joined(lines, sound), goes_on
                if reach >= Reach.EXACT:
                    gaining.clear()
        places = [whole for _, (_, whole) in sorted(gaining.items())]
        if len(places) < unwrap.FEW:  # one break alone shows no width: then no part may have been another message
            places = [each for each in places if self._gain(lines, each, reach=Reach.ANY, doubtful=doubtful) > 0]
        if places:
            yield unwrap.joined(lines, places), False

    def _looked_at(
        self, lines: list[Line], wholes: Sequence[unwrap.Whole], *, reach: Reach, doubtful: bool
    ) -> tuple[list[tuple[int, unwrap.Whole]], bool]:
        """How much each of these lines says more in one; nothing if none of the first does, for nothing is broken.

        And whether the value of a part may go on in the next.
        """
        result: list[tuple[int, unwrap.Whole]] = []
        may_go_on = reach >= Reach.EXACT
        if len(wholes) >= _TOGETHER:
            first = wholes[:_TRIED]
            after = self._read_all([each for _, _, line in first for each in (line, _gap(line))], doubtful=doubtful)
            if len(first) == _TRIED and not _without_counters(after):
                return [], False  # whatever their parts say
            parts = [each for start, end, line in first for each in (*lines[start:end], _gap(line))]
            before = self._read_all(parts, doubtful=doubtful)
            if not _without_counters(after - before):
                if len(first) == _TRIED:
                    return [], False
                if not before - after:
                    values = _values(after)
                    return [(0, each) for each in wholes], may_go_on and any(_is_begun(each, values) for each in before)
        for whole in wholes[:PLACES]:
            result.append((self._gain(lines, whole, reach=reach, doubtful=doubtful), whole))
            if len(result) == _TRIED and not any(
                more > 0 or (may_go_on and self._goes_on(lines, each, doubtful=doubtful)) for more, each in result
            ):
                return [], False
        return result + [(0, whole) for whole in wholes[PLACES:]], may_go_on

    def _goes_on(self, lines: Sequence[Line], whole: unwrap.Whole, *, doubtful: bool) -> bool:
        """True if a value of a part goes on in the next."""
        start, end, line = whole
        parts = self._read(lines[start:end], doubtful=doubtful) if unwrap.breaks_a_phrase(lines[start:end]) else None
        if not parts:
            return False
        said = self._read([line], doubtful=doubtful)
        values = _values(said - parts)
        return any(_goes_on(each, values) for each in parts - said)

    def _gain(self, lines: Sequence[Line], whole: unwrap.Whole, *, reach: Reach, doubtful: bool) -> int:
        """How much more a line says in one than in its parts; less than nothing where it does not say all of that.

        Of lines that reach the width of the text, a part may have been taken for another message.
        """
        start, end, line = whole
        parts, said = self._read(lines[start:end], doubtful=doubtful), self._read([line], doubtful=doubtful)
        renamed = reach > Reach.ANY and any(each[0] == _EVENT and each[2] not in GENERAL for each in said - parts)
        launched = reach > Reach.ANY and any(each[0] == _LAUNCH for each in said)
        values = _values(said)
        lost = sum(
            not (
                _goes_on(each, values)
                or (each[0] == _EVENT and (renamed or (reach and each[2] in GENERAL)))
                or (each[0] == _LAUNCH and launched)
            )
            for each in parts - said
        )
        more = gain(said & parts | _without_counters(said - parts), parts)
        plainly = more >= 0 if reach >= Reach.EXACT else end - start >= _PLAINLY and more > 2 * lost
        if lost and not plainly:
            return -1
        return max(more, 0)


def _without_counters(said: frozenset[Said]) -> frozenset[Said]:
    """Without counters: any two numbers that a break kept apart may make one."""
    return frozenset(each for each in said if not (each[0] == _EVENT and each[2] in _COUNTERS))


def _gap(line: Line) -> Line:
    """An empty line, which ends what a line began."""
    return msgspec.structs.replace(line, text="")


def gain(said: frozenset[Said], before: frozenset[Said]) -> int:
    """How much more is said than before. A value with something behind it is the same value, or a damaged one."""
    old, new = _values(before), _values(said)
    more = sum(not any(each[-1].startswith(value) for value in old.get(each[:-1], ())) for each in said - before)
    return more - sum(not _goes_on(each, new) for each in before - said)


def _values(said: Iterable[Said]) -> dict[tuple[str, ...], list[str]]:
    values: dict[tuple[str, ...], list[str]] = {}
    for *field, value in said:
        values.setdefault(tuple(field), []).append(value)
    return values


def _goes_on(part: Said, values: Mapping[tuple[str, ...], list[str]]) -> bool:
    """True if a value is the beginning of one of these."""
    return any(value.startswith(part[-1]) for value in values.get(part[:-1], ()))


def _is_begun(part: Said, values: Mapping[tuple[str, ...], list[str]]) -> bool:
    """True if a value is the beginning of another one of these."""
    return any(value != part[-1] and value.startswith(part[-1]) for value in values.get(part[:-1], ()))
