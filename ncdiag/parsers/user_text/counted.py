"""Numbers as people write them in sentences: digits, or words up to those that count hosts and GPUs."""

from __future__ import annotations

SPELT = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "sixteen": 16,
}  # fmt: skip
ARTICLES = {"a": 1, "single": 1, "another": 1}
"""Words for one of a kind."""


def number(text: str) -> int:
    """The number that a word of these, or digits, say."""
    word = text.lower()
    return SPELT.get(word, 0) or ARTICLES.get(word, 0) or int(word)
