"""Random words: tokens by their form, and words whose letters alternate unlike written words."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.layers import as_text
from ncdiag.formats.secrets.tokens import SHAPES_OF_TOKENS, TOKENS, Span

__all__ = ["doubtful", "in_run", "may_hold_token"]

_CLASSES = lazy_regex(r"[A-Z]+|[a-z]+|\d+")
_LONG = lazy_regex(r"[A-Za-z\d+/_=-]{20,4000}")
_NO_CHANCE = lazy_regex(
    r"iZ[a-z\d]{8,}Z?\Z|_Z|ncclDev|cutlass|ampere|sm\d|.*(?:site-packages|/lib/|/usr/|/opt/|/home/|/proc/|/sys/|/dev/|\.py|\.cc|\.so"
    r"|::)|[0-9a-f]+\Z|[0-9A-F]+\Z"
    r"|SHA256[:=]|sha\d|[A-Z\d_]+\Z|[a-z\d_/-]+\Z|[\d.,:+-]+\Z"
)
_NAME_PARTS = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_WRITTEN = lazy_regex(r"[A-Z][a-z]{2,}")
"""Words as in names: they are a quarter of a random text."""
_ALTERNATES, _NAMES_ALTERNATE = 0.5, 0.4
"""Runs of lower case letters, upper case letters and digits per character: 0.62 at random, below 0.5 in names; the same
with a capital and the following lower case letters as one run: 0.45 at random, below 0.36 in names.
"""
_MIXED, _LONG_WORD, _LETTERS, _DOUBTFUL = 3, 20, 18, 0.3
_ONE_CASE = lazy_regex(r"[a-z\d]{24,}\Z|[0-9a-f]{32,}\Z")
_BITS = 3.6
_NO_HEX = 0.25
"""Minimum share of letters that do not occur in hexadecimal numbers; at random it is 0.6."""
_JOINTS = lazy_regex(r"[/=_-]")
_BEYOND_HEX = frozenset("ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ")
_UUID = lazy_regex(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-")


@functools.lru_cache(maxsize=1 << 15)
def in_run(run: str) -> tuple[Span, ...]:
    """The spans of secrets in a run of characters without blanks: tokens by their form, and random words."""
    spans = [found.span("token" if found["token"] else "crypt") for found in TOKENS.finditer(run)]
    spans = [span for span in spans if not _plain(run[slice(*span)])]
    for found in _LONG.finditer(run):
        if (
            not any(a < found.end() and found.start() < b for a, b in spans)
            and _by_chance(found[0])
            and not as_text(found[0])
            and _bits(found[0]) >= _BITS
            and not _named_hash(run, found.start())
        ):
            spans.append(found.span())
    return tuple(spans)


def _plain(token: str) -> bool:
    """True if a string with the form of a token consists of words (``sk-learn-contrib-examples``)."""
    return re.fullmatch(
        r"[A-Za-z]+(?:[-_.][a-z]+"
        r"|[-_.]\d{1,4})*",
        token,
    ) is not None and not re.search(r"[a-z][A-Z][a-z]?[A-Z]|[A-Za-z]{24}", token)


def _named_hash(run: str, start: int) -> bool:
    """True if the word is a digest, as its name says."""
    return re.search(r"(?:sha\d{1,3}|md5|blake\w+|crc\w*|digest|hash)[:=-]$", run[:start], re.IGNORECASE) is not None


def _by_chance(word: str) -> bool:
    """True if the word is random: lower case, upper case and digits alternate unlike in written words."""
    if _NO_CHANCE.match(word):
        return False
    whole = [word] if word.endswith("=") and word.rstrip("=").count("=") == 0 else []
    return any(_alternates(part) for part in (*whole, *_JOINTS.split(word)) if len(part) >= _LONG_WORD)


def _alternates(part: str) -> bool:
    parts = _CLASSES.findall(part)
    kinds = {(one[0].islower(), one[0].isdigit()) for one in parts}
    letters = sum(map(len, parts))
    if sum(map(len, _WRITTEN.findall(part))) >= _ALTERNATES * letters:
        return False
    if sum(letter in _BEYOND_HEX for letter in part) < _NO_HEX * letters or _UUID.search(part):
        return False
    names = len(_NAME_PARTS.findall(part))
    often = len(parts) >= _ALTERNATES * letters or names >= _NAMES_ALTERNATE * letters
    return len(kinds) == _MIXED and letters >= _LETTERS and often


def _bits(word: str) -> float:
    """The entropy of the word per letter."""
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def may_hold_token(shape: str) -> bool:
    """True if a run of characters, with digits read as 0, may contain a token."""
    return SHAPES_OF_TOKENS.search(shape) is not None or any(_by_chance(word) for word in _LONG.findall(shape))


@functools.lru_cache(maxsize=1 << 15)
def doubtful(word: str) -> bool:
    """True if a person should check the word: long, of letters and digits in turn, but without clear evidence."""
    if len(word) < _LONG_WORD or (_NO_CHANCE.match(word) and not _ONE_CASE.match(word)):
        return False
    return len(_CLASSES.findall(word)) >= _DOUBTFUL * len(word)
