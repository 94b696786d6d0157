"""Stand-ins: equal for equal things, and such that a diagnosis gives the same result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ncdiag.agent.hide import HIDDEN
from ncdiag.apps.redact.addresses import Addresses
from ncdiag.apps.redact.hosts import found_in, is_hinted
from ncdiag.apps.redact.name_stand_ins import Names
from ncdiag.apps.redact.searched import Buffer, Searched
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.chance import doubtful
from ncdiag.formats.secrets.pairs import uncertain
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.formats.secrets.shapes import ADDRESS, NAME, REVIEW, SECRET, Shapes

_WORD = lazy_regex(r"[A-Za-z0-9+/_=-]{20,400}")
_REVIEWED = 1000


class Redactor:
    """Redacts the texts of one case with common stand-ins. ``mapping`` maps originals to stand-ins."""

    def __init__(
        self,
        hosts: Iterable[str] = (),
        key: bytes | None = None,
        mapping: Mapping[str, str] | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        """``hosts``: known host names; the other arguments are the state of an earlier run, to continue it."""
        self.mapping = dict(mapping or {})
        self.counts: Counter[str] = Counter()
        self.review: dict[str, str] | None = None
        """If it is a table: words that are kept and may be secrets, with the place of the first."""
        self._place = ("", 0)
        self._searched: Searched | None = None
        self._number = 0
        self._used: dict[str, set[str]] = {}
        self._known: set[str] = set()
        self._addresses = Addresses(key, self.mapping, self._used)
        self._names = Names(self.mapping, kinds or {}, self._used, self._addresses.random)
        self._shapes = Shapes(self._may_hold)
        self._secrets = Secrets(self.counts, self._known)
        self._spread: tuple[int, re.Pattern[str] | None, re.Pattern[str] | None] = (0, None, None)
        self.know(hosts)

    @property
    def key(self) -> bytes:
        """The key of the stand-ins for addresses."""
        return self._addresses.key

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each name in ``mapping``."""
        return self._names.kinds

    def replaced(self) -> dict[str, int]:
        """The number of replacements by kind: secrets by occurrence, all others once each."""
        return {**self.counts, **{kind: len(names) for kind, names in self._used.items()}}

    def text(self, text: str) -> str:
        """The text redacted line by line; the number of lines is unchanged."""
        self.learn(text.split("\n"))
        self.begin()
        return self.part(text)

    def path(self, text: str) -> str:
        """A path of a machine's file: only the user of a home folder gets a stand-in."""
        if not text.startswith(("home/", "Users/")):
            return text
        self.learn([f"/{text}"])
        return self._names.cleaned(f"/{text}")[1:]

    def begin(self, name: str = "", searched: Searched | None = None) -> None:
        """Start another text. ``searched``: what an earlier reading of it found."""
        self._place = (name, 0)
        self._searched, self._number = searched, 0
        self._secrets = Secrets(self.counts, self._known)
        self._shapes = Shapes(self._may_hold)

    def secrets(self) -> Secrets:
        """A remover of secrets for a text that is read for its names; it counts nothing."""
        return Secrets(None, self._known)

    def part(self, text: str) -> str:
        """The next lines of a text whose names are known; the number of lines is unchanged."""
        return self.buffer(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def buffer(self, buffer: bytes) -> bytes:
        """Like `part` for bytes, which is faster: for most lines only the shape is checked.

        A buffer that was searched before, and has only shapes that contain nothing, is not even cut into lines.
        """
        found = self._before(buffer)
        if found and not found.changed and found.shapes is not None and not self._shapes.any(found.shapes):
            self._place = (self._place[0], self._place[1] + found.lines - 1)
            return buffer
        lines, shapes, flags = self._shapes.flags(buffer)
        changed = dict(found.changed) if found else self._secrets.changed(lines, shapes, flags)
        for index, flag in flags:
            if flag & (NAME | ADDRESS):
                changed[index] = self._line(changed.get(index) or lines[index], flag)
            if self.review is not None and flag & (REVIEW | SECRET):
                self._check(changed.get(index) or lines[index], index + 1)
        self._place = (self._place[0], self._place[1] + len(lines) - 1)
        return lines.joined(changed) if changed else buffer

    def _before(self, buffer: bytes) -> Buffer | None:
        """What an earlier reading found in the next buffer; None if it must be searched now, as all after it."""
        if self._searched is None:
            return None
        found = self._searched.at(self._number, buffer)
        if found is None:
            self._secrets = Secrets(self.counts, self._known, self._searched.begun(self._number))
            self._searched = None
            return None
        self._number += 1
        if found.secrets:
            self.counts["secret"] += found.secrets
        return found

    def know(self, hosts: Iterable[str]) -> None:
        """Add known host names."""
        for name in hosts:
            self._names.learn("host", name)

    def learn(self, lines: Iterable[str]) -> None:
        """Learn the names of users and hosts from lines of the case, but not from secrets."""
        buffer = "\n".join(lines).encode("utf-8", "surrogateescape")
        shown, shapes, flags = Shapes(is_hinted).flags(buffer)
        changed = self.secrets().changed(shown, shapes, flags)
        for index, flag in flags:
            if flag & NAME:
                self.learn_line(changed.get(index) or shown[index])

    def learn_line(self, line: str) -> None:
        """Like `learn`, for one line without its secrets."""
        for kind, name in found_in(line):
            if HIDDEN not in name:
                self._names.learn(kind, name)

    def _may_hold(self, shape: str) -> bool:
        _, _, spread = self._told_before()
        return self._names.may_stand_in(shape) or (spread is not None and spread.search(shape) is not None)

    def _told_before(self) -> tuple[int, re.Pattern[str] | None, re.Pattern[str] | None]:
        """Patterns for secrets that a name identified elsewhere, to be removed also without the name.

        The other pattern finds their shapes.
        """
        if self._spread[0] != len(self._known):
            listed = "|".join(map(re.escape, sorted(self._known, key=len, reverse=True)))
            shapes = "|".join(sorted({re.escape(re.sub(r"\d", "0", known)) for known in self._known}))
            self._spread = len(self._known), re.compile(listed), re.compile(shapes)
        return self._spread

    def _line(self, line: str, flag: int) -> str:
        if flag & NAME:
            known = self._told_before()[1]
            if known is not None:
                line, count = known.subn(HIDDEN, line)
                self.counts["secret"] += count
            line = self._names.cleaned(line)
        if flag & ADDRESS:
            line = self._addresses.cleaned(line)
        return line

    def _check(self, line: str, number: int) -> None:
        """Note the words of a redacted line that a person should check; ``number`` counts in the current buffer."""
        name, before = self._place
        if self.review is not None and len(self.review) < _REVIEWED:
            for word in (*filter(doubtful, _WORD.findall(line)), *uncertain(line)):
                self.review.setdefault(word, f"{name}:{before + number}")

    def number4(self, number: int, mask: int = 32) -> int:
        """An IPv4 address or network as a number."""
        return self._addresses.number4(number, mask)

    def number6(self, number: int, mask: int = 128) -> int:
        """An IPv6 address or network as a number."""
        return self._addresses.number6(number, mask)
