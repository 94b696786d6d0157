"""The cells that an input lights: objects with a reason, such as ``qp-modify invalid``, and the rules that list them.

A line often names its own cause. Failures count fully, other lines partly; an object without a reason says only what
the input is about. Lines of tables and programs, and libraries that NCCL does without, say nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.cells.reading import said
from ncdiag.cells.vocabulary import Vocabulary, vocabulary
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.suspects.wording import Wording

WEIGHT = 0.5
"""Steps of log-odds for each natural logarithm of the summed weights."""
FIELD = 0.5
"""Share of the weight of a cell whose object is a whole field, such as ``gpu``."""
OTHER = 0.6
"""Share of the weight of a cell that is not in a failure but in a sentence of a person or another line."""
NAMED = 0.04
"""Share of the weight of an object that is named without a reason, for each step of its rarity."""
_OFTEN = 2.0
"""Maximum factor of an object that many lines name."""
_MOST_LINES = 2000
"""Maximum number of lines that are read, failures first."""
_OPTIONAL = lazy_regex(r"libnccl-(?:net|tuner|profiler|env)|NET/Plugin|libibverbs|librccl-net", re.IGNORECASE)
"""Libraries that NCCL looks for and does without."""
_FORMAL = lazy_regex(r'\s*(?:File "|\||\+[-=]|[\d.]+(?:\s+[\d.]+){3}|\w+ = |import |from |def |class |return )')
"""Lines of tracebacks, tables and programs."""


class Lit(msgspec.Struct, frozen=True):
    """What the input says of a rule. ``score`` is in steps of log-odds; ``cell`` is the heaviest lit one, at ``line``.

    ``fails``: a failure lights a cell, and its object is an operation or a part and not a whole field. ``named``: the
    objects of the rule that the input names, rarest first; without a lit cell, ``cell`` and ``line`` are None.
    """

    score: float
    named: tuple[str, ...]
    cell: tuple[str, str] | None = None
    line: Span | None = None
    fails: bool = False

    @property
    def sentence(self) -> str:
        """What the input says, for the report."""
        words = vocabulary()
        if self.cell is None:
            return f"the input names parts of this cause: {', '.join(words.objects[each].name for each in self.named)}"
        thing, reason = self.cell
        return f"the line says: {words.objects[thing].name}, {words.reasons[reason]}"


class Read(msgspec.Struct):
    """The lit cells with their share of the weight, line, and whether it is a failure; how often objects are named."""

    lit: dict[tuple[str, str], tuple[float, Span, bool]]
    named: Counter[str]


def cells_of(view: View, wording: Wording, rules: Iterable[Rule]) -> dict[str, Lit]:
    """What the input says of each rule of which it says something, by code."""
    words = vocabulary()
    held = [(rule.code, rule.cells) for rule in rules if rule.cells]
    spread = Counter(thing for _, cells in held for thing in {thing for thing, _, _ in cells})
    read = lit_in(view, wording)
    rarity = {
        thing: math.log(len(held) / spread[thing]) * min(1 + math.log(times), _OFTEN)
        for thing, times in read.named.items() if spread[thing]
    }  # fmt: skip
    found: dict[str, Lit] = {}
    for code, cells in held:
        if any(thing in rarity for thing, _, _ in cells) or any(cell[:2] in read.lit for cell in cells):
            found[code] = _lit(cells, read, rarity, words)
    return found


def _lit(cells: tuple[tuple[str, str, int], ...], read: Read, rarity: Mapping[str, float], words: Vocabulary) -> Lit:
    heaviest: dict[str, float] = {}
    lit: list[tuple[float, tuple[str, str], Span, bool]] = []
    for thing, reason, most in cells:
        field = words.objects[thing].field
        weight = most * FIELD if field else most
        heaviest[thing] = max(weight, heaviest.get(thing, 0.0))
        if (at := read.lit.get((thing, reason))) is not None:
            share, line, fails = at
            lit.append((weight * share, (thing, reason), line, fails and not field))
    named = sorted((thing for thing in heaviest if thing in rarity), key=lambda thing: -rarity[thing])
    total = sum(each[0] for each in lit) + NAMED * sum(rarity[thing] * heaviest[thing] for thing in named)
    score = WEIGHT * math.log1p(total)
    if not lit:
        return Lit(score, tuple(named))
    _, cell, line, _ = max(lit, key=lambda each: each[0])
    return Lit(score, tuple(named), cell, line, any(each[3] for each in lit))


def lit_in(view: View, wording: Wording) -> Read:
    """The cells that the lines of an input light; of equal lines the first, and a failure before other lines."""
    words = vocabulary()
    read = Read({}, Counter())
    for span, fails in itertools.islice(_lines(view, wording), _MOST_LINES):
        found = said(span.text, words)
        read.named.update(found.objects)
        share = 1.0 if fails else OTHER
        for cell in found.cells():
            if cell not in read.lit or read.lit[cell][0] < share:
                read.lit[cell] = share, span, fails
    return read


def _lines(view: View, wording: Wording) -> Iterator[tuple[Span, bool]]:
    """The lines that count, each with whether it is a failure."""
    seen: set[tuple[str, int]] = set()
    for event in open_failures(view.job, view):
        span = event.provenance.get("")
        if span is not None and (span.source, span.line) not in seen:
            seen.add((span.source, span.line))
            yield span, True
    for span in wording.spans():
        if (span.source, span.line) not in seen and not _FORMAL.match(span.text) and not _OPTIONAL.search(span.text):
            yield span, False
