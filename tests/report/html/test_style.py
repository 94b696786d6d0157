"""The style sheet: words can be read on what is behind them, in light, in dark and on paper."""

from __future__ import annotations

import re

import pytest

from ncdiag.report.html.page import style

LEAST = 4.5
"""Contrast that WCAG 2.2 wants of text (1.4.3)."""
PAIRS = [
    ("text", "page"), ("text", "card"), ("text", "code"), ("text", "mark"), ("quiet", "page"), ("quiet", "card"),
    ("quiet", "code"), ("quiet", "mark"), ("link", "page"), ("link", "card"), ("error", "card"), ("warning", "card"),
    ("error", "error-soft"), ("warning", "warning-soft"), ("info", "info-soft"), ("good", "good-soft"),
    ("text", "good-soft"), ("text", "info-soft"),
]  # fmt: skip


def themes() -> dict[str, dict[str, str]]:
    """The colours of light, dark and paper, by the name of the variable."""
    blocks = re.findall(r":root\s*\{([^}]*)\}", style())
    light, dark, paper = (dict(re.findall(r"--([a-z-]+):\s*(#[0-9a-f]{3,6})\b", block)) for block in blocks)
    return {"light": light, "dark": light | dark, "paper": light | paper}


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    shares = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", ["light", "dark", "paper"])
def test_text_stands_out(name: str) -> None:
    colours = themes()[name]
    found = {}
    for text, behind in PAIRS:
        dark, light = sorted(map(luminance, (colours[text], colours[behind])))
        found[text, behind] = round((light + 0.05) / (dark + 0.05), 2)
    assert {pair: ratio for pair, ratio in found.items() if ratio < LEAST} == {}


def test_every_variable_that_is_used_has_a_value() -> None:
    own = set(re.findall(r"(--[a-z-]+):", style()))
    assert set(re.findall(r"var\((--[a-z-]+)\)", style())) <= own


def test_the_style_sheet_loads_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face|expression|//", style())
