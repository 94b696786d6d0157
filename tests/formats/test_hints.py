"""A pattern that is hinted at by literals matches no sentence in which it is not named."""

from __future__ import annotations

import re

import pytest
from generate.kinds import KINDS, text

from ncdiag.formats.hints import Hints
from ncdiag.parsers import _complaints
from ncdiag.parsers.user_text import forms

SAID = (
    "Our training hangs at the first all-reduce and nothing happens for 30 minutes.",
    "It is 3x slower with two nodes than with one, although GPU utilisation drops to 0 for seconds.",
    "NCCL does not use InfiniBand, the loss becomes NaN, and memory grows until the job is killed.",
    "The container CRASHES with a segmentation fault; our ranks never finish, they wait for data.",
)


@pytest.mark.parametrize(
    ("hints", "patterns", "most"),
    [
        (_complaints.HINTS, [pattern for _, pattern in _complaints._patterns()], 0.25),
        (forms.HINTS, [way.said for way in forms._patterns()], 0.25),
        (forms.SUBJECTS, [way.subject or re.compile("") for way in forms._patterns()], 0.6),
    ],
)
def test_a_pattern_matches_no_sentence_in_which_it_is_not_named(
    hints: Hints, patterns: list[re.Pattern[str]], most: float
) -> None:
    sentences = [*SAID, *(line for kind in KINDS for line in text(kind, 100).split("\n"))]
    named = matched = 0
    for sentence in sentences:
        may = hints.of(sentence)
        found = {number for number, pattern in enumerate(patterns) if pattern.search(sentence)}
        assert found <= set(may), sentence
        named, matched = named + len(may), matched + len(found)
    assert matched >= len(SAID)
    assert named < len(sentences) * len(patterns) * most, "hints save nothing"


def test_a_pattern_without_a_literal_is_always_named() -> None:
    hints = Hints("words-of-this-test", (__file__,), lambda: [(r"\d+", 0), (r"ring\s buffer", re.VERBOSE)])
    assert hints.of("nothing of it") == [0]
    assert hints.of("a Ring buffer") == [0, 1]
