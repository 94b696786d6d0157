"""Stand-ins: the same for the same thing, made so that what a diagnosis rests on stays as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ncdiag.agent.hide import HIDDEN
from ncdiag.apps.redact.addresses import Addresses
from ncdiag.apps.redact.chance import doubtful
from ncdiag.apps.redact.hosts import HINTS, found_in
from ncdiag.apps.redact.name_stand_ins import Names
from ncdiag.apps.redact.secret import Secrets
from ncdiag.apps.redact.shapes import ADDRESS, NAME, REVIEW, Shapes

_WORD = re.compile(r"[A-Za-z0-9+/_=-]{20,400}")
_REVIEWED = 1000


class Redactor:
    """Cleans texts of one case; all of them with the same stand-ins. ``mapping`` says what became what."""

    def __init__(
        self,
        hosts: Iterable[str] = (),
        key: bytes | None = None,
        mapping: Mapping[str, str] | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        """``hosts``: names that are known to be hosts; the others: of an earlier run, to go on with it."""
        self.mapping = dict(mapping or {})
        self.counts: Counter[str] = Counter()
        self.review: dict[str, None] = {}
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
        """What the stand-ins of addresses are made with."""
        return self._addresses.key

    @property
    def kinds(self) -> Mapping[str, str]:
        """Of which kind each name in ``mapping`` is."""
        return self._names.kinds

    def replaced(self) -> dict[str, int]:
        """How many of each kind were replaced: secrets by their places, all others once each."""
        return {**self.counts, **{kind: len(names) for kind, names in self._used.items()}}

    def text(self, text: str) -> str:
        """The text cleaned line by line; it has as many lines as before."""
        self.learn(text.split("\n"))
        self.begin()
        return self.part(text)

    def path(self, text: str) -> str:
        """A path of a machine's file: only the user in whose home it is gets a stand-in."""
        if not text.startswith(("home/", "Users/")):
            return text
        self.learn([f"/{text}"])
        return self._names.cleaned(f"/{text}")[1:]

    def begin(self) -> None:
        """What follows is another text."""
        self._secrets = Secrets(self.counts, self._known)
        self._shapes = Shapes(self._may_hold)

    def secrets(self) -> Secrets:
        """What removes the secrets of a text that is read for its names, counting nothing."""
        return Secrets(None, self._known)

    def part(self, text: str) -> str:
        """The next lines of a text from which names were learnt already; as many lines as before."""
        return self.buffer(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def buffer(self, buffer: bytes) -> bytes:
        """The same of bytes, which is quicker: of most lines only the shape is looked at."""
        lines, shapes, flags = self._shapes.flags(buffer)
        changed = self._secrets.changed(lines, shapes, flags)
        for index, flag in flags:
            if flag & (NAME | ADDRESS | REVIEW):
                changed[index] = self._line(changed.get(index) or lines[index], flag)
        return lines.joined(changed) if changed else buffer

    def know(self, hosts: Iterable[str]) -> None:
        """Take names that are known to be hosts."""
        for name in hosts:
            self._names.learn("host", name)

    def learn(self, lines: Iterable[str]) -> None:
        """Take the names of users and hosts from lines that are to be cleaned, or go with them, but from no secret."""
        buffer = "\n".join(lines).encode("utf-8", "surrogateescape")
        shown, shapes, flags = Shapes(lambda shape: HINTS.search(shape) is not None).flags(buffer)
        changed = self.secrets().changed(shown, shapes, flags)
        for index, flag in flags:
            if flag & NAME:
                self.learn_line(changed.get(index) or shown[index])

    def learn_line(self, line: str) -> None:
        """The same of one line without its secrets."""
        for kind, name in found_in(line):
            if HIDDEN not in name:
                self._names.learn(kind, name)

    def _may_hold(self, shape: str) -> bool:
        _, _, spread = self._told_before()
        return self._names.may_stand_in(shape) or (spread is not None and spread.search(shape) is not None)

    def _told_before(self) -> tuple[int, re.Pattern[str] | None, re.Pattern[str] | None]:
        """Secrets that a name told somewhere, to be removed where they are alone; and by their shapes."""
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
        if flag & REVIEW and len(self.review) < _REVIEWED:
            for word in _WORD.findall(line):
                if doubtful(word):
                    self.review[word] = None
        return line

    def number4(self, number: int, mask: int = 32) -> int:
        """An IPv4 address or network as a number."""
        return self._addresses.number4(number, mask)

    def number6(self, number: int, mask: int = 128) -> int:
        """An IPv6 address or network as a number."""
        return self._addresses.number6(number, mask)
