"""What is looked at before dearer work must not change its answer."""

from __future__ import annotations

import random
import shlex

from ncdiag.formats.shell import words
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
