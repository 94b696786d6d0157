"""Split shell text into words with places: quotes, continuations, comments, here-documents, substitutions.

A subset of POSIX sh and bash (POSIX.1-2017, Shell Command Language, section 2.3) that suffices to find the variables
that a script sets and the commands it starts. Nothing is expanded; a word computed at run time has no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ncdiag.apps.lint.masks import FILLER
from ncdiag.apps.lint.model import Place
from ncdiag.base.patterns import lazy_regex

_BLANK = lazy_regex(rf"(?:[ \t\r{FILLER}]|\\\r?\n)+")
_COMMENT = lazy_regex(r"#[^\n]*")
_SEPARATOR = lazy_regex(r"\r?\n|;;|;|&&|&>{1,2}|&|\|\||\||\(|\)")
_REDIRECTION = lazy_regex(r"\d{0,3}(?:<<<|<<-?|>>|<>|>\||>&|<&|>|<)")
_PLAIN = lazy_regex(r"[^\s\\'\"`$;&|()<>]+")
_VARIABLE = lazy_regex(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_DOUBLE_PLAIN = lazy_regex(r"[^\"\\`$]+")


class Word(msgspec.Struct, frozen=True):
    """A word at ``at``; ``text`` is without quotes, None if a part is computed at run time.

    ``raw`` is the word without quotes, with substitutions as written. ``inner``: the place between the quotes if the
    word ends in a quoted part; ``escaped``: that part contains escapes.
    """

    at: Place
    raw: str
    text: str | None
    inner: Place | None = None
    commands: tuple[Place, ...] = ()
    """The commands in its substitutions ``$(...)``."""
    escaped: bool = False


class Command(msgspec.Struct, frozen=True):
    """The words between two separators; ``behind`` is the separator after them."""

    words: tuple[Word, ...]
    behind: str
    bodies: tuple[Place, ...] = ()
    """Its here-documents."""
    target: str = ""
    """The file to which its output is redirected."""


def commands(text: str, start: int = 0, end: int | None = None, *, expanded: bool = False) -> Iterator[Command]:
    """The commands of a stretch of text; ``expanded``: it is within double quotes or a here-document."""
    return _Lexer(text, start, len(text) if end is None else end, expanded=expanded).commands()


class _Lexer:
    def __init__(self, text: str, start: int, end: int, *, expanded: bool) -> None:
        self.text, self.at, self.end, self.expanded = text, start, end, expanded
        self.open = self.double = True  # after a substitution or quote without its end, all later ones are plain text
        self.pending: list[tuple[str, bool]] = []
        self.bodies: list[Place] = []
        self.inside: list[Place] = []
        self.escaped = False

    def commands(self) -> Iterator[Command]:
        words: list[Word] = []
        target = ""
        while self.at < self.end:
            if self._skip(_BLANK) or (self.text[self.at] == "#" and self._skip(_COMMENT)):
                continue
            separator = _SEPARATOR.match(self.text, self.at, self.end)
            if separator:
                self.at = separator.end()
                if separator[0].endswith("\n"):
                    self._here_documents()
                yield Command(tuple(words), separator[0], tuple(self.bodies), target)
                words, target, self.bodies = [], "", []
                continue
            redirection = _REDIRECTION.match(self.text, self.at, self.end)
            if redirection:
                self.at = redirection.end()
                target = self._redirected(redirection[0].lstrip("0123456789")) or target
                continue
            word = self._word()
            if words and words[-1].raw in {"tee", "-a"} and any(each.raw == "tee" for each in words[:3]):
                target = word.raw
            words.append(word)
        if words:
            yield Command(tuple(words), "", (), target)

    def _redirected(self, sign: str) -> str:
        """Parse the target of a redirection: the file for the output, or the delimiter of a here-document."""
        self._skip(_BLANK)
        if self.at >= self.end or self.text[self.at] == "\n":
            return ""
        word = self._word()
        if sign in {"<<", "<<-"}:
            self.pending.append((word.raw, sign == "<<-"))
        return word.raw if sign in {">", ">>", ">|"} else ""

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()
        return found is not None

    def _here_documents(self) -> None:
        """Skip the bodies of the here-documents of the line that has just ended."""
        for mark, tabs in self.pending:
            start = self.at
            while self.at < self.end:
                stop = self.text.find("\n", self.at, self.end)
                stop = self.end if stop < 0 else stop
                line = self.text[self.at : stop].rstrip("\r")
                if (line.lstrip("\t") if tabs else line) == mark:
                    self.bodies.append(Place(start, self.at))
                    self.at = min(stop + 1, self.end)
                    break
                self.at = min(stop + 1, self.end)
            else:
                self.bodies.append(Place(start, self.end))
        self.pending = []

    def _word(self) -> Word:
        start = self.at
        self.inside = []
        self.escaped = False
        raw: list[str] = []
        known = True
        inner: Place | None = None
        while self.at < self.end:
            plain = _PLAIN.match(self.text, self.at, self.end)
            letter = self.text[self.at]
            if plain:
                raw.append(plain[0])
                self.at, inner = plain.end(), None
            elif letter == "\\" and self.expanded and self.text[self.at + 1 : self.at + 2] in {"$", "`"}:
                self.at += 1  # the surrounding quotes remove the backslash
                raw.append(self._substituted())
                known, inner = False, None
            elif letter == "\\":
                if self.text.startswith(("\\\n", "\\\r\n"), self.at):
                    break
                raw.append(self.text[self.at + 1 : self.at + 2])
                self.at, inner = min(self.at + 2, self.end), None
            elif letter in "'\"":
                piece, sure, inner = self._quoted(letter)
                raw.append(piece)
                known = known and sure
            elif letter in "$`":
                raw.append(self._substituted())
                known, inner = False, None
            else:
                break
        if self.at == start:  # nothing else can begin here; always advance
            raw.append(self.text[start])
            self.at += 1
        whole = "".join(raw).replace(FILLER, "")
        return Word(Place(start, self.at), whole, whole if known else None, inner, tuple(self.inside), self.escaped)

    def _quoted(self, quote: str) -> tuple[str, bool, Place | None]:
        """(text between quotes, whether it is constant, its place if it contains no escapes)."""
        start = self.at + 1
        if quote == "'":
            stop = self.text.find("'", start, self.end)
            if stop < 0:  # an apostrophe
                self.at = start
                return "'", True, None
            self.at = stop + 1
            inside = self.text[start:stop]
            self.escaped = False
            return inside, not (self.expanded and ("$" in inside or "`" in inside)), Place(start, stop)
        raw: list[str] = []
        known, escaped = True, False
        place = start
        while self.double and place < self.end and self.text[place] != '"':
            plain = _DOUBLE_PLAIN.match(self.text, place, self.end)
            if plain:
                raw.append(plain[0])
                place = plain.end()
            elif self.text[place] == "\\":
                following = self.text[place + 1 : place + 2]
                raw.append("" if following == "\n" else following if following in '"\\$`' else f"\\{following}")
                escaped = escaped or following != "\n"  # a line continuation has the same meaning inside and outside
                place += 2
            else:
                self.at = place
                raw.append(self._substituted())
                known = False
                place = self.at
        if not self.double or place >= self.end:
            self.at, self.double = start, False
            return '"', True, None
        self.at = place + 1
        self.escaped = escaped
        return "".join(raw), known, Place(start, place)

    def _substituted(self) -> str:
        """``$NAME``, ``${...}``, ``$(...)`` or backticks, as written."""
        start = self.at
        variable = _VARIABLE.match(self.text, start, self.end)
        if variable:
            self.at = variable.end()
            return variable[0]
        if self.text[start] == "`":
            stop = self.text.find("`", start + 1, self.end)
            self.at = stop + 1 if stop >= 0 else start + 1
            return self.text[start : self.at]
        opener = self.text[start + 1 : start + 2]
        if opener in {"(", "{"} and self.open:
            stop = self._closed(start + 1, opener, ")" if opener == "(" else "}")
            if stop > 0:
                if opener == "(" and self.text[start + 2] != "(":
                    self.inside.append(Place(start + 2, stop - 1))
                self.at = stop
                return self.text[start:stop]
            self.open = False
        self.at = start + 1
        return "$"

    def _closed(self, place: int, opener: str, closer: str) -> int:
        """The index after the bracket that closes the one at ``place``; 0 if there is none."""
        depth = 0
        while place < self.end:
            letter = self.text[place]
            if letter == "\\":
                place += 1
            elif letter == "'" and opener == "(":
                stop = self.text.find("'", place + 1, self.end)
                place = stop if stop > 0 else place
            elif letter == opener:
                depth += 1
            elif letter == closer:
                depth -= 1
                if depth == 0:
                    return place + 1
            place += 1
        return 0
