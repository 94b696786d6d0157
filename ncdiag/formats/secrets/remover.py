"""Remove secrets from a text; they are not stored."""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.agent.hide import HIDDEN
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.blocks import Block, opened
from ncdiag.formats.secrets.cells import Header, header
from ncdiag.formats.secrets.chance import in_run
from ncdiag.formats.secrets.layers import as_text, views
from ncdiag.formats.secrets.names import Promise, looks_random
from ncdiag.formats.secrets.pairs import named_apart, value_at
from ncdiag.formats.secrets.shapes import LONG, SECRET, Lines
from ncdiag.formats.secrets.signed import Signed
from ncdiag.formats.secrets.spans import named, placed
from ncdiag.formats.secrets.tokens import Span
from ncdiag.formats.secrets.wraps import across

__all__ = ["Begun", "Secrets"]

LONGEST = 1 << 18
"""Maximum length of a piece of a line that is searched at once."""
_RUN = lazy_regex(r"[^\s\"'`,;<>()|&]{12,4000}")
_ONE_LINE_KEY = lazy_regex(
    r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK"
    r")?-----.{0,20000}?-----END[A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----"
)
_PGPASS = lazy_regex(
    r"(?:^|[\s\"'>])[\w.*-]{1,100}:(?:5432|3306|6432|\*):[^\s:]{1,60}:[^\s:]{1,60}:(?P<value>[^\s:\"'<\\]{2,200})"
)
_SECRET_OBJECT = Signed(r"\"?kind\"?\s?:\s?\"?Secret\b")
_OBJECT_DATA = lazy_regex(r"\"(?:data|stringData)\"\s?:\s?\{(?P<body>[^{}]{1,20000})\}")
_OBJECT_VALUE = lazy_regex(r":\s?\"(?P<value>[^\"]{1,20000})\"")
_VALUE = lazy_regex(r"\s{0,80}-?\s{0,20}\{?[\"']?value[\"']?\s?:\s{0,20}")
_SAFE_TO_SPREAD = lazy_regex(r"(?=.*\d)(?=.*[A-Za-z])[^\s/:]{10,200}\Z")
_KNOWN_LIMIT = 500
_SHAPES = 1 << 16
"""Maximum number of shapes that are remembered."""
_QUIET, _NEVER = 16, -(1 << 60)
"""Number of lines of one shape without a secret after which further ones are skipped, and a count for never."""


class Begun(NamedTuple):
    """What goes on in the next part of a text: lines in a block, or rows of a table."""

    block: Block | None = None
    table: Header | None = None


class Secrets:
    """Removes secrets line by line.

    Private keys, manifests and values on separate lines are recognised by other lines.
    """

    def __init__(
        self, counts: Counter[str] | None = None, known: set[str] | None = None, begun: Begun | None = None
    ) -> None:
        """Start of a text. ``counts`` receives the number of removed secrets, ``known`` those recognised by names.

        ``begun``: the text before was searched by another.
        """
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.known: set[str] = set() if known is None else known
        self._block, self._table = begun or Begun()
        self._below: dict[int, list[Span]] = {}
        """Parts of secrets that begin on lines before them."""
        self._quiet: dict[bytes, int] = {}
        self._promising: set[int] = set()
        """Lines of this part that announce a secret on another line, or are in a block that may contain one."""

    @property
    def begun(self) -> Begun:
        """What goes on in the lines after those that were searched."""
        return Begun(copy.copy(self._block), self._table)

    def removed(self, line: str) -> str:
        """The line without its secrets, if lines are passed one by one."""
        return self.part([line], [0]).get(0, line)

    def part(self, lines: Sequence[str], wanted: Iterable[int]) -> dict[int, str]:
        """The lines of the next part of a text that contain secrets, without them.

        ``wanted`` are the lines to be searched, in order; lines in a private key or similar are searched as well.
        """
        made: dict[int, str] = {}
        self._search(lines, wanted, made)
        return made

    def _search(self, lines: Sequence[str], wanted: Iterable[int], made: dict[int, str]) -> None:
        """Add the lines that contain secrets, without them, to ``made``; each is there before the next is asked for."""
        done = -1
        for index in itertools.chain(wanted, [len(lines)]):
            while (self._block or self._table) and done + 1 < index:
                done += 1
                self._look(lines, done, made)
            if done < index < len(lines):
                done = index
                self._look(lines, done, made)
        for index, spans in self._below.items():
            if index not in made:
                made[index] = self._without(lines[index], spans)
        self._below.clear()

    def changed(self, lines: Lines, shapes: Sequence[bytes], flags: Sequence[tuple[int, int]]) -> dict[int, str]:
        """The lines of the next part that contain secrets, without them; ``flags`` say what each may contain."""
        made = self.searched(lines, {index: shapes[index] for index, flag in flags if flag & SECRET})
        for index, flag in flags:
            if flag & (LONG | SECRET) == LONG and index not in made:
                line = lines[index]
                hidden = self._without(line, list(_others(line)))
                if hidden != line:
                    made[index] = hidden
        return made

    def searched(self, lines: Sequence[str], shapes: Mapping[int, bytes]) -> dict[int, str]:
        """The lines of the next part that contain secrets, without them; ``shapes`` are those of the lines to search.

        Lines that differ only in digits from several lines without secrets are skipped (``tokens/s: 1234``).
        """
        if len(self._quiet) > _SHAPES:
            self._quiet.clear()
        self._promising.clear()
        made: dict[int, str] = {}
        self._search(lines, self._not_quiet(shapes, made), made)
        return made

    def _not_quiet(self, shapes: Mapping[int, bytes], made: Container[int]) -> Iterator[int]:
        """The lines to search. A line was searched when the next is asked for; it is in ``made`` if it was changed."""
        quiet = self._quiet
        for index, shape in shapes.items():
            if quiet.get(shape, 0) >= _QUIET:
                continue
            yield index
            promises = index in self._promising
            quiet[shape] = _NEVER if promises or index in made else quiet.get(shape, 0) + 1
            if promises and index - 1 in shapes:  # the value may be above its name
                quiet[shapes[index - 1]] = _NEVER

    def _look(self, lines: Sequence[str], index: int, made: dict[int, str]) -> None:
        line = lines[index]
        if self._in_block(line, index, made):
            return
        spans, promised, valued = self._one(line)
        spans += self._in_table(line)
        for place, more in across(lines, index).items():
            self._below.setdefault(place, []).extend(more)
        hidden = self._without(line, [*spans, *self._below.pop(index, ())])
        if hidden != line:
            made[index] = hidden
        if promised and not valued:
            self._value_above(lines, index, promised, made)
        self._block = self._block or opened(lines, index, promised if not valued else Promise.NONE)
        self._table = self._table or header(line)
        if promised or self._block or self._table:
            self._promising.add(index)
        if self._block is not None and self._block.begins_here:
            self._block.begins_here = False
            made[index] = self._block.first(hidden)
            self._count(line)

    def _in_block(self, line: str, index: int, made: dict[int, str]) -> bool:
        """True if the line was judged as a part of the block, and by nothing else."""
        if self._block is None:
            return False
        new, self._block = self._block.removed(line)
        if new is None:
            return False
        if new != line:
            self._count(line)
            made[index] = new
        return self._block is not None or new != line

    def _in_table(self, line: str) -> list[Span]:
        """The secrets in a row of the table whose header was read; a line with other cells ends it."""
        spans = self._table.values(line) if self._table else None
        if spans is None:
            self._table = None
        return spans or []

    def _value_above(self, lines: Sequence[str], index: int, promised: Promise, made: dict[int, str]) -> None:
        """Handle ``- value: x`` with ``name: TOKEN`` on the following line."""
        above = lines[index - 1] if index else ""
        if promised and (head := _VALUE.match(above)):
            begin, end = value_at(above, head.end())
            if begin < end:
                made[index - 1] = above[:begin] + HIDDEN + above[end:]
                self._count(above[begin:end])

    def _one(self, line: str) -> tuple[list[Span], Promise, bool]:
        """(secrets that a line shows itself, what a name in it announces, whether the value is present)."""
        if len(line) > LONGEST:
            starts = range(0, len(line), LONGEST)
            pieces = [(start, self._one(line[start : start + LONGEST])[0]) for start in starts]
            return [(start + a, start + b) for start, spans in pieces for a, b in spans], Promise.NONE, True
        apart, promised, valued = named_apart(line)
        sure = [*apart, *named(line)]
        self._know(line[begin:end] for begin, end in sure)
        spans = [*sure, *placed(line), *_others(line)]
        for view in views(line):
            sure = [*named_apart(view.text)[0], *named(view.text)]
            self._know(view.text[begin:end] for begin, end in sure)
            spans += map(view.span, (*sure, *placed(view.text), *_others(view.text)))
        return spans, promised, valued

    def _know(self, values: Iterable[str]) -> None:
        """Remember values that are long and mixed enough to be removed wherever they occur."""
        for value in values:
            if len(self.known) < _KNOWN_LIMIT and _SAFE_TO_SPREAD.match(value) and looks_random(value + "x" * 6):
                self.known.add(value)

    def _without(self, line: str, spans: list[Span]) -> str:
        spans = sorted(span for span in spans if span[0] < span[1])
        made, place = [], 0
        for begin, end in spans:
            if end <= place:
                continue
            if begin >= place:
                if line[begin:end] != HIDDEN:
                    self.counts["secret"] += 1
                made += [line[place:begin], HIDDEN]
            place = end
        return "".join(made) + line[place:] if made else line

    def _count(self, what: str) -> None:
        self.counts["secret"] += bool(what.strip())


def _shows_secret(text: str) -> bool:
    """True if a text of some lines, such as one that was encoded, shows a secret."""
    lines = filter(None, text.split("\n"))
    return any(next(named(line), None) or next(placed(line), None) or in_run(line) for line in lines)


def _others(line: str) -> Iterator[Span]:
    for run in _RUN.finditer(line):
        for begin, end in in_run(run[0]):
            yield run.start() + begin, run.start() + end
        if _shows_secret(as_text(run[0])):
            yield run.span()
    if "PRIVATE KEY" in line and "-----END" in line:
        for found in _ONE_LINE_KEY.finditer(line):
            yield found.span()
    fields = _PGPASS.search(line)
    if fields and not re.fullmatch(r"[0-9a-fA-F]{1,4}|\d+", fields["value"]):
        yield fields.span("value")
    if _SECRET_OBJECT.search(line):
        for body in _OBJECT_DATA.finditer(line):
            for value in _OBJECT_VALUE.finditer(line, *body.span("body")):
                yield value.span("value")
