"""The phrases of one language: English templates with holes, and what is said for them.

``ncdiag/language/<code>/*.toml`` are flat tables ``"{n} line" = "{n} 行"``. They are read and compiled only where an
answer is not in English.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError
from ncdiag.base.patterns import lazy_regex

FOLDER = Path(__file__).parent
LIMIT = 1000
"""Characters of a text in which phrases are looked for: what is longer was written by no program."""
_FITS: dict[str, re.Pattern[str]] = {
    "n": lazy_regex(r"\d+"),
    "with_this": lazy_regex(r"with this, .+"),
    "total": lazy_regex(r"\d+"),
    "version": lazy_regex(r"\d[\w.+-]*"),
    "low": lazy_regex(r"(?:[A-Z]+ )?\d[\w.+-]*"),
    "share": lazy_regex(r"[\d.]+%"),
    "numbers": lazy_regex(r"[\d,-]+"),
    "device": lazy_regex(r"[^\s;]*\d[^\s;]*"),
    "setting": lazy_regex(r"[A-Z]\w*=.*", re.DOTALL),
    "variable": lazy_regex(r"[A-Z]\w*"),
    "reader": lazy_regex(r"NCCL|Horovod|HCCL|The program"),
    "path": lazy_regex(r"[A-Z][A-Z\d]+"),
    "ip": lazy_regex(r"[\da-f]*[.:][\da-f.:]+"),
    **dict.fromkeys(("rate", "usual"), lazy_regex(r"\d[\d.e+]*")),
    **dict.fromkeys(("name", "host", "hosts", "rank", "ranks"), lazy_regex(r"[^\s;]+")),
}
"""What may be in a hole of that name, such as a number, a share or a proof's beginning; anything in others."""
SENTENCES = "report.toml"
"""The file of the templates that the program names itself: they are looked for in no text."""
NOTES = frozenset({"errors.toml", "probe.toml", "run.toml"})
"""The files of what commands say beside their answer: their templates are looked for in nothing else."""
_DIGEST = 6
"""Bytes of a digest."""
_DEPTH = 4
"""Phrases within phrases."""
_RUN = 8
"""Sentences that may be known together."""
_HOLE = lazy_regex(r"\{(\w*)\}")
_WIDE = r"[\u3400-\u9fff]"
_MARK = r"[\u3001\u3002\uff01-\uff1f\u201c\u201d]"
_TIGHT = lazy_regex(rf"(?<={_WIDE})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?={_WIDE})")
_LOOSE = lazy_regex(rf"(?<={_WIDE}) (?={_WIDE})| (?=[\uff01-\uff1f])|(?<={_MARK}) ")
_GLUE = (", ", " and ", " or ")
"""What joins phrases."""
_NAMES = lazy_regex(r"[^\s]*[A-Z\d_/.][^\s]*(?: [^\s]*[A-Z\d_/.][^\s]*)*")
"""Names and numbers, which are said as they are: no word in small letters alone."""
_ENDED = lazy_regex(r"(?<=[\w)`'\"][.?]) (?=[A-Z`\d]|--)|(?<=[a-z]{4}\.) (?=[a-z])")
"""Between two sentences; one may begin with the name of a program."""
_LABEL = lazy_regex(r"[A-Z][A-Za-z]+(?<!Error)")
"""An operation or a state in front of what is told of it."""


class Pattern(msgspec.Struct, frozen=True, array_like=True):
    """A template with holes: its literal texts, one more than the names of its holes, and what is said for it."""

    literals: tuple[str, ...]
    holes: tuple[str, ...]
    said: str

    def match(self, text: str) -> dict[str, str] | None:
        """What is in the holes; each ends where the next literal first occurs, so that no text takes long."""
        first, last = self.literals[0], self.literals[-1]
        end = len(text) - len(last)
        if not (text.startswith(first) and text.endswith(last)) or end < len(first):
            return None
        at, found = len(first), {}
        for hole, literal in zip(self.holes[:-1], self.literals[1:-1], strict=True):
            there = text.find(literal, at, end)
            if there < 0:
                return None
            found[hole] = text[at:there]
            at = there + len(literal)
        found[self.holes[-1]] = text[at:end]
        fits = all(form.fullmatch(found[hole]) for hole, form in _FITS.items() if hole in found)
        return found if fits else None


class Table(msgspec.Struct, frozen=True, dict=True):
    """The translations of templates.

    ``said`` are all of them, ``digests`` the `digest` of each template, one after the other: apart, both take less
    space. ``patterns`` are the templates with holes, the longest literals first; ``notes`` are those of `NOTES`.
    """

    code: str
    digests: bytes
    said: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    notes: tuple[Pattern, ...]

    @functools.cached_property
    def exact(self) -> dict[bytes, str]:
        """The translation of each template by its digest."""
        parts = (self.digests[at : at + _DIGEST] for at in range(0, len(self.digests), _DIGEST))
        return dict(zip(parts, self.said, strict=True))

    def exactly(self, text: str) -> str | None:
        """What is said for a text that is a template."""
        return self.exact.get(digest(text))

    def _or_same(self, text: str) -> str:
        found = self.exactly(text)
        return text if found is None else found

    def say(self, template: str, values: Mapping[str, object]) -> str:
        """What is said for a template, with its holes filled."""
        said = self._or_same(template)
        return self.tidy(said.format(**values)) if values else said

    @staticmethod
    def tidy(text: str) -> str:
        """One blank between a Chinese character and a Latin letter or digit, none between two Chinese ones."""
        if text.isascii():
            return text
        return _TIGHT.sub(" ", _LOOSE.sub("", text))

    def phrase(self, text: str, depth: int = _DEPTH) -> str:
        """What is said for a text; the text itself where nothing fits."""
        if " " not in text or len(text) > LIMIT:
            return text
        if (found := self._whole(text)) is not None:
            return found
        if not depth:
            return text
        parts = list(_apart(text))
        if len(parts) > 1:
            told = [self.phrase(part, depth) for part in parts]
            return text if told == parts else self._or_same("; ").join(told)
        for pattern in self.patterns:
            values = pattern.match(text)
            if values is not None:
                held = {name: self.phrase(value, depth - 1) for name, value in values.items()}
                return self.tidy(pattern.said.format(**held))
        return self._joined(text, depth)

    def _whole(self, text: str) -> str | None:
        """What is said for a text that is a template, or one with a stop behind it."""
        if (found := self.exactly(text)) is not None or not text.endswith("."):
            return found
        found = self.exactly(text[:-1])
        return found if found is None else self.say("{sentence}.", {"sentence": found})

    def note(self, text: str) -> str:
        """What is said for a note or an error of a command."""
        if (found := self.exactly(text)) is not None or len(text) > LIMIT:
            return text if found is None else found
        parts = list(_apart(text))
        if len(parts) > 1:
            return self._or_same("; ").join(map(self.note, parts))
        for pattern in self.notes:
            if (values := pattern.match(text)) is not None:
                return self.tidy(pattern.said.format(**{name: self.note(held) for name, held in values.items()}))
        return self.phrase(text)

    def sentences(self, text: str) -> str:
        """What is said for a text as a whole, else for each of its sentences."""
        if (found := self._whole(text)) is not None:
            return found
        parts = sentences(text)
        told, at = [], 0
        while at < len(parts):  # as many at once as are known together
            runs = ((end, self._whole(" ".join(parts[at:end]))) for end in range(min(len(parts), at + _RUN), at, -1))
            end, said = next((run for run in runs if run[1] is not None), (at + 1, None))
            told.append(self._sentence(parts[at]) if said is None else said)
            at = end
        return text if told == parts else self.tidy(" ".join(told))

    def _sentence(self, text: str) -> str:
        """A sentence, which is also looked for without its stop."""
        bare = text.removesuffix(".")
        if bare != text and self.exactly(text) is None and (told := self.phrase(bare)) != bare:
            return self.say("{sentence}.", {"sentence": told})
        return self.phrase(text)

    def _joined(self, text: str, depth: int) -> str:
        """A list of phrases, each said by itself, or one in front of a text."""
        head, colon, rest = text.partition(": ")
        if rest and (said := self.exactly(head)) is not None and " " in head:
            return self.say(f"{{label}}{colon}{{text}}", {"label": said, "text": self.phrase(rest, depth - 1)})
        if rest and _LABEL.fullmatch(head) and (said := self.phrase(rest, depth - 1)) != rest:
            return self.tidy(f"{head}{self._or_same(colon)}{said}")
        for glue in _GLUE:
            parts = text.split(glue)
            if len(parts) > 1:
                told = [self.phrase(part, depth - 1) for part in parts]
                pairs = zip(told, parts, strict=True)
                if (told != parts or glue != ", ") and all(new != old or _NAMES.fullmatch(old) for new, old in pairs):
                    return self.tidy(self._or_same(glue).join(told))
        return text


def digest(text: str) -> bytes:
    """A few bytes in place of a template."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its stop."""
    return _ENDED.split(text)


def _apart(text: str) -> Iterator[str]:
    """What stands between semicolons, outside of parentheses."""
    start = at = 0
    while (at := text.find("; ", at)) >= 0:
        if text.count("(", start, at) <= text.count(")", start, at):
            yield text[start:at]
            start = at + 2
        at += 2
    yield text[start:]


def files(code: str) -> list[Path]:
    """The files of a language."""
    return sorted((FOLDER / code).glob("*.toml"))


def load(code: str) -> Table:
    """The table of a language, compiled once."""
    sources = [*map(str, files(code)), __file__]
    return compiled.hold(f"phrases-{code}", sources, lambda: build(code), Table)


def build(code: str) -> Table:
    """Read the files of a language; DefinitionError for an entry that is in two of them or whose holes differ."""
    found = list(entries(code))
    exact = {digest(template): said for template, said, _ in found}
    if len(exact) < len(found):
        reason = "two templates have one digest: change the words of one"
        raise DefinitionError(reason, file=code)
    kept = [(_pattern(template, said), name in NOTES) for template, said, name in found
            if "{" in template and name != SENTENCES]  # fmt: skip
    kept.sort(key=lambda held: -sum(map(len, held[0].literals)))
    phrases, notes = (tuple(one for one, is_note in kept if is_note is wanted) for wanted in (False, True))
    return Table(code, b"".join(exact), tuple(exact.values()), phrases, notes)


def entries(code: str) -> Iterator[tuple[str, str, str]]:
    """Every template, what is said for it, and the name of its file."""
    from ncdiag.base import toml

    seen = set[str]()
    for path in files(code):
        for template, said in toml.definition(toml.text_of(path), str(path)).items():
            if template in seen or sorted(set(holes(template))) != sorted(set(holes(said))):
                reason = f"{template!r} occurs twice, or its holes differ from those of {said!r}"
                raise DefinitionError(reason, file=str(path), text=template)
            seen.add(template)
            yield template, said, path.name


def holes(template: str) -> Sequence[str]:
    """The names of the holes of a template."""
    return _HOLE.findall(template)


def _pattern(template: str, said: str) -> Pattern:
    literals = _HOLE.sub("\0", template).split("\0")
    return Pattern(tuple(literals), tuple(holes(template)), said)
