"""Each tense of a verb is matched by the pattern of its name."""

from __future__ import annotations

import re

import pytest

from ncdiag.parsers.user_text.verbs import in_all_tenses, verbs


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("hang", "hang hangs hung hanging"),
        ("freeze", "freeze freezes froze frozen freezing"),
        ("drop", "drop drops dropped dropping"),
        ("vary", "vary varies varied varying"),
        ("crash", "crash crashes crashed crashing"),
        ("sink", "sink sinks sank sunk sinking"),
        ("die", "die dies died dying"),
        ("stay", "stay stays stayed staying"),
        ("halve", "halve halves halved halving"),
    ],
)
def test_each_tense_is_matched(verb: str, words: str) -> None:
    assert [word for word in words.split() if not re.fullmatch(verbs(verb), word)] == []
    assert not re.fullmatch(verbs(verb), "other")


def test_what_follows_a_verb_follows_each_of_its_tenses() -> None:
    pattern = verbs("slow down", "come back, go on")
    assert all(re.fullmatch(pattern, text) for text in ("slowed down", "came back", "went on", "goes on"))
    assert not re.fullmatch(pattern, "slow on")


def test_a_pattern_in_the_present_matches_the_past() -> None:
    pattern = in_all_tenses(r"(?:takes?|sits)\s(?:\w+\s)?(?:longer|there)|\bfalls?\sback|hang(?:s|ing)?|understands?")
    said = ("took longer", "sat there", "fell back", "take longer", "takes longer", "understand", "hangs")
    assert all(re.fullmatch(pattern, text) for text in said)
    assert not re.fullmatch(pattern, "understood"), "another verb"
    duration = in_all_tenses(r"takes?\s(?:\w+\s)?hours")
    assert re.search(duration, "it took two hours instead")
    assert not re.search(duration, "it took me hours"), "the time of a person"
    assert not re.search(duration, "the run took two hours"), "a plain report"
