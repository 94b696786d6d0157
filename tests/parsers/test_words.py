"""What is looked at before dearer work must not change its answer."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest
from specimens import FIXTURES

from ncdiag import catalogue
from ncdiag.formats.shell import words
from ncdiag.messages.load import own_messages
from ncdiag.parsers import _completions, _context, _cuda, _ends, _failing, _slurm, _verbs
from ncdiag.parsers._signs import Signs, are_in


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


def test_signs_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without a sign is one of which its reader, had it looked, would have made nothing."""
    files = [*catalogue.rules_dir().glob("*/*.toml"), *(path for path in FIXTURES.rglob("*") if path.is_file())]
    lines = {message.sample for message in own_messages() if message.sample}
    lines |= {line[:600] for path in files for line in _text(path).splitlines()}
    texts = [_context.split(line) for line in sorted(lines)]
    with_signs = [_found(text, context) for context, text in texts]
    monkeypatch.setattr(Signs, "stand_in", lambda _self, _text: True)
    without = [_found(text, context) for context, text in texts]
    assert [each for each in zip(texts, with_signs, without, strict=True) if each[1] != each[2]] == []
    assert sum(any(found) for found in with_signs) > 500


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _found(text: str, context: _context.Context) -> list[object]:
    readers = _failing.find, _ends.find
    alone = _verbs.failure, _cuda.failure, _completions.status, _slurm.find
    return [*(read(text) for read in alone), *(read(text, context) for read in readers)]
