"""What a loop of the shell prints: lines of fixed text with the values of files in them.

``for p in 0 1; do echo "$p $(cat F/$p)"; done`` prints ``0`` and the value of ``F/0``, then ``1`` and that of ``F/1``.
Known are echo and cat, loops over words, braces and seq, and loops over other words where echo prints the word itself.
Source of the words: bash(1), Brace Expansion, Command Substitution.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex

SEQUENCE = lazy_regex(r"\{(\d{1,3})\.\.(\d{1,3})\}|\$\(seq (\d{1,3}) (\d{1,3})\)")
CHOICE = lazy_regex(r"\{([\w,.-]{1,200})\}")
_LOOP = lazy_regex(r"for (?P<name>\w{1,20}) in (?P<items>[^;]{1,300}?) ?; ?do (?P<body>.{1,800}?) ?;? ?done")
_PAUSE = lazy_regex(r"(?:^|(?: ?(?:;|&&) ?))sleep \d{1,4}s? ?(?:;|&&) ?")
"""Between two readings of the same files."""
_STATEMENT = lazy_regex(r"(?:[^;\"'(]|\"[^\"]*\"|'[^']*'|\([^()]*(?:\([^()]*\)[^()]*)*\))+")
_ECHO = lazy_regex(r"echo(?: -(?P<flags>[ne]{1,2}))? (?P<text>.+)$")
_PRINTS = r"(?:cat|head -n ?1|<) ?"
_CAT = lazy_regex(rf"(?:sudo )?{_PRINTS}(?P<files>/sys/\S.{{0,400}})$")
_INNER = lazy_regex(
    rf"\$\((?:sudo )?{_PRINTS}(?P<files>/sys/[^()|]{{1,400}}?)\s*(?:\|[^()]{{0,60}})?\)"
    r"|`cat (?P<old>/sys/[^`|]{1,400})`"
)
_VALUE = r"(\S{1,60})"
_VALUES = (
    (lazy_regex(r"/(?:phys_)?state$"), r"(\d: \w{1,24}|\S{1,60})"),
    (lazy_regex(r"/ports/[^/]{1,16}/rate$"), r"([\d.]{1,8} [GM]b/sec(?: \(\w{1,8}(?: \w{1,8})?\))?|\S{1,60})"),
    (lazy_regex(r"/gid_attrs/types/"), r"(RoCE v2|IB/RoCE v1|\S{1,60})"),
)
"""Files whose values may contain blanks, with the pattern of a value."""
_GLOB = lazy_regex(r"(?P<folder>/sys/(?:[\w.-]{1,80}/){1,6})[\w.-]{0,60}[*?][\w.*?-]{0,60}/?")
_MOST_FILES = 256
_WORD = "\0"
"""Placeholder for a word that only the output shows."""


class Line(NamedTuple):
    """A line that a loop prints: its pattern with a group for each value, and the files of these values.

    ``is_open``: the pattern has a group ``word``, which the files contain as `_WORD`, and any number of lines follow.
    """

    pattern: re.Pattern[str]
    files: tuple[str, ...]
    is_open: bool = False

    def read(self, text: str) -> list[tuple[str, str]] | None:
        """Path and value of each file in a line of the output; None for another line."""
        found = self.pattern.fullmatch(text.strip())
        if found is None:
            return None
        word = found["word"] if self.is_open else ""
        values = found.groups()[1:] if self.is_open else found.groups()
        return [(file.replace(_WORD, word), value) for file, value in zip(self.files, values, strict=False)]


def expanded(text: str) -> list[str]:
    """The words of the shell with their braces and sequences written out, at most 256."""
    words = text.split()
    for _ in range(3):
        pairs = ((word, SEQUENCE.search(word) or CHOICE.search(word)) for word in words)
        nested = ([word] if found is None else alternatives(word, found) for word, found in pairs)
        words = list(itertools.islice(itertools.chain.from_iterable(nested), _MOST_FILES))
    return words


def alternatives(word: str, found: re.Match[str]) -> Iterator[str]:
    """The words that one word with braces expands to."""
    ends = [end for end in found.groups() if end is not None]
    items = ends[0].split(",") if len(ends) == 1 else map(str, range(int(ends[0]), int(ends[1]) + 1))
    return (word[: found.start()] + item + word[found.end() :] for item in items)


def items(text: str) -> list[str]:
    """What a loop goes over."""
    sequence = SEQUENCE.fullmatch(text.strip())
    return list(alternatives("", sequence)) if sequence and not sequence.start() else expanded(text)


def readings(command: str) -> list[str]:
    """The commands before, between and after pauses; one, which may be empty, without a pause."""
    return [piece for piece in _PAUSE.split(command) if piece] or [""]


def printed(command: str) -> list[Line]:
    """The lines that a loop prints, in order; empty for one that is not understood, or that prints no file.

    ``sleep 5; LOOP`` is that loop, and ``LOOP; sleep 5; LOOP`` prints the lines of both.
    """
    first, *more = readings(command.strip())
    if more:
        each = [printed(piece) for piece in (first, *more)]
        same = all(lines == each[0] for lines in each)
        whole = list(itertools.chain.from_iterable(each))
        return (each[0] if any(line.is_open for line in whole) and same else whole) if all(each) else []
    loop = _LOOP.fullmatch(first)
    if loop is None or "/sys/" not in loop[0]:
        return []
    if loop["body"].startswith("for "):  # a loop in it: its body is between its own do and done
        return []
    words = items(loop["items"])
    is_open = any(set(word) & set("*?$`(") for word in words)
    name = re.compile(rf"\$(?:{loop['name']}\b|\{{{loop['name']}\}})")
    body, folder = loop["body"], ""
    if len(words) == 1 and (glob := _GLOB.fullmatch(words[0])):
        folder = glob["folder"]
        last = rf"\$\(basename \"?\$\{{?{loop['name']}\}}?\"?\)|\$\{{{loop['name']}##\*/\}}"
        body = re.sub(last, _WORD, body)
    lines: list[Line] = []
    for word in [_WORD] if is_open else words[:_MOST_FILES]:
        made = _lines(name.sub(lambda _, word=folder + word: word, body), is_open=is_open)
        if not made:
            return []
        lines += made
    return lines if any(line.files for line in lines) and not (is_open and len(lines) != 1) else []


def _lines(body: str, *, is_open: bool) -> list[Line]:
    """The lines of one turn; empty for a statement that is not understood."""
    done: list[tuple[str, list[str]]] = []
    text, files = "", list[str]()
    for statement in (found[0].strip() for found in _STATEMENT.finditer(body)):
        echo, cat = _ECHO.fullmatch(statement), _CAT.fullmatch(statement)
        if echo:
            words, named = _pattern(echo["text"])
            text, files = text + words, files + named
            if "n" in (echo["flags"] or ""):
                continue
            done.append((text, files))
        elif cat:
            named = expanded(cat["files"])
            done += [(text + _value(named[0]), [*files, named[0]]), *((_value(file), [file]) for file in named[1:])]
        else:
            return []
        text, files = "", []
    held = [_line(pattern, tuple(named), is_open=is_open) for pattern, named in done]
    return [line for line in held if line is not None] if None not in held and not text else []


def _pattern(text: str) -> tuple[str, list[str]]:
    """Pattern and files of what echo prints."""
    bare = text.replace('"', "").replace("'", "")
    parts, files, at = [], list[str](), 0
    for found in _INNER.finditer(bare):
        named = expanded(found["files"] or found["old"])
        parts += [_literal(bare[at : found.start()]), r"\s+".join(map(_value, named))]
        files += named
        at = found.end()
    return "".join([*parts, _literal(bare[at:])]), files


def _value(file: str) -> str:
    """The pattern, with one group, of the value that a file holds."""
    return next((form for pattern, form in _VALUES if pattern.search(file)), _VALUE)


def _literal(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"(?:\s|\\t)+", text)))


def _line(pattern: str, files: tuple[str, ...], *, is_open: bool) -> Line | None:
    if not is_open:
        return Line(re.compile(pattern.strip()), files)
    before = pattern.partition(re.escape(_WORD))[0]
    if pattern.count(re.escape(_WORD)) != 1 or "(" in before.replace(r"\(", "") or "$" in "".join(files):
        return None
    return Line(re.compile(pattern.replace(re.escape(_WORD), r"(?P<word>[\w.-]{1,60})", 1)), files, is_open=True)
