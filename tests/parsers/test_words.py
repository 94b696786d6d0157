"""What is looked at before dearer work must not change its answer."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest
from specimens import FIXTURES
from tenth import at_least, tenth

from ncdiag import catalogue
from ncdiag.formats.literals import beginnings, needed
from ncdiag.formats.shell import words
from ncdiag.messages.load import own_messages
from ncdiag.parsers import _completions, _context, _cuda, _ends, _failing, _results, _slurm, _verbs, discover
from ncdiag.parsers._signs import Signs, are_in
from ncdiag.parsers.user_text import context, trials
from ncdiag.parsers.user_text.words import Lexer
from ncdiag.text.sections.kinds import kinds_of


def test_words_without_quotes_are_those_of_the_shell() -> None:
    chance = random.Random(3)
    for _ in range(5000):
        text = "".join(chance.choice("ab=;|& \t\n\r#$(){}<>*é-/\x0b\x0c") for _ in range(chance.randrange(16)))
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&")
        lexer.whitespace_split, lexer.commenters = True, ""
        assert words(text) == list(lexer)


def test_a_sign_is_found_wherever_it_stands() -> None:
    signs, other = Signs("no way out", "init0", " => "), Signs("nowhere else")
    for text in ("there is No Way Out.", "(init2rtr)", "a => b", "a  =>  b"):
        assert signs.stand_in(text)
        assert are_in(text)
        assert not other.stand_in(text)
    for text in ("no way", "way out", "initial", "a=>b", "", "nowhere"):
        assert not signs.stand_in(text)


@pytest.mark.sweep
def test_signs_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without a sign is one of which its reader, had it looked, would have made nothing."""
    files = [*catalogue.rules_dir().glob("*/*.toml"), *(path for path in FIXTURES.rglob("*") if path.is_file())]
    lines = {message.example for message in own_messages()}
    lines |= {line[:600] for path in files for line in _text(path).splitlines()}
    texts = [_context.split(line) for line in tenth(sorted(lines))]
    with_signs = [_found(text, context) for context, text in texts]
    monkeypatch.setattr(Signs, "stand_in", lambda _self, _text: True)
    without = [_found(text, context) for context, text in texts]
    assert [each for each in zip(texts, with_signs, without, strict=True) if each[1] != each[2]] == []
    assert sum(any(found) for found in with_signs) > at_least(500)


@pytest.mark.parametrize(
    ("pattern", "literals", "first"),
    [
        (r"CA '[^']+'$", {"ca '"}, "c"),
        (r"(?:GPU|NIC)\d{1,2}\s+X", {"gpu", "nic"}, "gn"),
        (r"\s*(?:export\s)?NCCL_[A-Z_]+=", {"nccl_"}, ""),
        (r"[Dd]river [0-9]{3}\.(?:x|yz)?", {"driver "}, "d"),
        (r"(?=ib0)[a-z]+|eth\d", {"ib0", "eth"}, "abcdefghijklmnopqrstuvwxyz"),
        (r"\d+ of \d+", {" of "}, "0"),
        (r"(?:rank )?\d+:", set(), "r0"),
        (r"(?!no )\w+", set(), ""),
        (r"x?", set(), ""),
    ],
)
def test_what_a_pattern_needs_is_read_off_it(pattern: str, literals: set[str], first: str) -> None:
    assert (set(needed(pattern)), set(beginnings(pattern))) == (literals, set(first))


@pytest.mark.sweep
def test_what_an_anchor_needs_decides_nothing() -> None:
    """The kind of a line is that of the first anchor that matches it, whatever is looked at before."""
    anchored = [parser for parser in discover().values() if parser.anchor]
    kinds = kinds_of(tuple(discover().values()))
    every = re.compile("|".join(f"(?P<{parser.kind}>{parser.anchor})" for parser in anchored))
    found = {line: match.lastgroup if (match := every.match(line)) else None for line in _lines()}
    assert [line for line, kind in found.items() if kinds.of_line(line) != kind] == []
    assert len(set(found.values())) > at_least(90)


@pytest.mark.sweep
@pytest.mark.parametrize("lexer", [trials.LEXER, context.LEXER])
def test_what_a_word_needs_decides_nothing(lexer: Lexer) -> None:
    """Words are found as by all their patterns in a row."""
    parts = "|".join(f"(?P<w{n}>{word.english})" for n, word in enumerate(lexer.words) if word.english)
    every = re.compile(rf"(?<![\w/.])(?:{parts})(?![A-Za-z0-9_/]|\.\w)|(?P<mark>[,;(){{}}]|->|=>)", re.IGNORECASE)
    kinds = {f"w{n}": word.kind for n, word in enumerate(lexer.words)} | {"mark": "break"}
    tokens = {line: lexer.tokens(line) for line in _lines()[::5] if line.isascii()}
    for line, found in tokens.items():
        expected = [(match.start(), match.end(), kinds[match.lastgroup or ""]) for match in every.finditer(line)]
        assert [(token.start, token.end, token.kind) for token in found] == expected
    assert len({token.kind for found in tokens.values() for token in found}) > at_least(5)


def _lines() -> list[str]:
    """Lines of tools, programs and people, with and without what stands before them."""
    files = [*catalogue.rules_dir().glob("*/*.toml"), *(path for path in FIXTURES.rglob("*") if path.is_file())]
    lines = {line[:600] for path in files for line in _text(path).splitlines()}
    return tenth(sorted(lines | {line.strip() for line in lines} | {line.partition(": ")[2] for line in lines}))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _found(text: str, context: _context.Context) -> list[object]:
    readers = _failing.find, _ends.find
    alone = _verbs.failure, _cuda.failure, _results.failure, _completions.status, _slurm.find
    return [*(read(text) for read in alone), *(read(text, context) for read in readers)]
