"""Expensive patterns are tried only in lines that contain a literal that they require."""

from __future__ import annotations

import re

import pytest
from generate.kinds import KINDS, text

from ncdiag.formats.blocks import documents, own_trouble
from ncdiag.formats.guarded import Guarded


@pytest.mark.parametrize("guarded", [own_trouble._GUARDED, documents._GUARDED])
def test_a_pattern_matches_no_line_in_which_it_is_not_tried(guarded: Guarded) -> None:
    own = "our job hangs\nmy node\nany idea?\nit still fails\nIf you see this, set the variable\nWIR haben\n"
    lines = [line for kind in KINDS for line in (own + text(kind, 300)).split("\n")]
    tried = matched = 0
    for line, may in guarded.of_lines(lines):
        found = {pattern for pattern in guarded.patterns if pattern.search(line)}
        assert found <= may, line
        tried, matched = tried + len(may), matched + len(found)
    assert matched
    assert tried < len(lines)


def test_a_pattern_without_a_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="no literal"):
        list(Guarded(re.compile(r"\d+")).of_lines(["7"]))
