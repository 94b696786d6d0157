"""Check values that are words: distance levels, log levels, and lists of algorithms, protocols and subsystems.

The table of variables has the words and says whether case matters; levels come from `ncdiag.nccl.paths`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import paths, versions
from ncdiag.nccl.book import OURS, Variable
from ncdiag.nccl.judgement.verdict import ValueVerdict
from ncdiag.nccl.spelling import distance

_NEWEST = paths.TABLES[-1][1]
LEVELS = _NEWEST[: _NEWEST.index("SYS") + 1]
"""The names of levels, nearest first; older releases have some of them only."""
_KNOWN = {OURS, "hccl"}
"""Programs whose words are known well enough to be checked."""
_SHOWN, _ITEMS = 60, 3


def of_words(known: Variable, text: str, version: Version | VersionRange | None) -> ValueVerdict | None:
    """Return what is wrong with the words of a value; None for variables that take any text, and where nothing is."""
    if known.owner not in _KNOWN:
        return None
    if known.type == "level":
        return _level(known, text, version)
    if not known.words or known.choices or known.others or any(text == value for _, value in known.defaults):
        return None
    if known.separators:
        return _list(known, text)
    return None if known.word(text) else _unknown(known.name, text, _meant(known.words, text), known.words)


def _unknown(name: str, text: str, near: Sequence[str], words: Sequence[str], versions_: str = "") -> ValueVerdict:
    short = text if len(text) < _SHOWN else text[: _SHOWN - 3] + "..."
    hint = f"; {' or '.join(near)} was probably intended" if near else ""
    return ValueVerdict(
        fault="word-unknown", what=f"{name} does not accept {short!r}{hint}",
        why=f"Accepted words: {', '.join(words)}.", right=_only(near), versions=versions_,
    )  # fmt: skip


def _meant(words: Sequence[str], text: str) -> tuple[str, ...]:
    """The known words that are nearest to the text: several if one edit leads to each; none if none is similar."""
    upper = text.strip().upper()
    for word in words:
        if word.upper() == upper:
            return (word,)
    if len(text) <= 2:  # noqa: PLR2004  (two letters resemble everything)
        return ()
    near = [(edits, word) for word in words if (edits := distance(upper, word.upper(), 1 + len(word) // 6)) is not None]
    least = min(near)[0] if near else 0
    return tuple(word for edits, word in near if edits == least)


def _only(near: Sequence[str]) -> str | None:
    return near[0] if len(near) == 1 else None


def _level(known: Variable, text: str, version: Version | VersionRange | None) -> ValueVerdict | None:
    """Check a level: names must be in capitals and need 2.6 or later.

    Digits count on an old scale, checked elsewhere.
    """
    if text[:1].isdigit() or text.startswith("-"):
        return None
    possible = [exact for exact in versions.samples(version, paths.CHANGES) if exact >= paths.NAMED_LEVELS]
    knowing = [exact for exact in possible if paths.parse_level(text, exact)]
    if not knowing:
        near = () if text in LEVELS else _meant(LEVELS, text)
        there = [level for level in LEVELS if version is None or any(paths.parse_level(level, v) for v in possible)]
        return _unknown(known.name, text, near, there) if possible else None
    if version is None or knowing[0] == possible[0]:
        return None
    return _unknown(known.name, text, (), LEVELS, f"<{knowing[0]}")


def _list(known: Variable, text: str) -> ValueVerdict | None:
    """Check words with separators between them and a leading ^; since 2.24 algorithms and protocols by function."""
    wrong: dict[str, str | None] = {}
    for part in re.split(f"[{re.escape(known.separators)}]", text.removeprefix("^")):
        bare = part.strip().removeprefix("^")
        if bare and not known.word(bare) and bare.lower() not in known.heads:
            wrong[bare] = _only(_meant(known.words, bare))
    if not wrong:
        return None
    mended: str | None = text
    for bare, right in wrong.items():
        mended = re.sub(rf"(?<!\w){re.escape(bare)}(?!\w)", right, mended) if right and mended else None
    return ValueVerdict(
        fault="word-unknown", what=f"{known.name} does not accept {', '.join(map(repr, list(wrong)[:_ITEMS]))}",
        why=f"Accepted words: {', '.join(known.words)}.", right=mended,
    )  # fmt: skip
