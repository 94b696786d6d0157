from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.report.sanitize import clean, json_escapes, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [send] text", "plain [send] text"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("over\rwritten", "over\\rwritten"),
        ("rm\x7f", "rm\\x7f"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("lone \ud83d surrogate", "lone \\ud83d surrogate"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("umlaut ä, 漢字, 🙂", "umlaut ä, 漢字, 🙂"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_one_line_has_no_line_ends() -> None:
    assert one_line("a\nb\r\nc\td\u2028e") == "a\\nb\\r\\nc d\\u2028e"


@given(st.text(st.characters()))
def test_nothing_unsafe_remains(text: str) -> None:
    for character in clean(text):
        assert character in "\t\n" or unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(character) not in {
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        }
    assert "\n" not in one_line(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_value(text: str) -> None:
    encoded = json_escapes(json.dumps(text, ensure_ascii=False))
    assert json.loads(encoded) == text
    assert clean(encoded) == encoded
