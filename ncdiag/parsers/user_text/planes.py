"""Planes of a network that people say are lost: ``one of the eight planes of the card is down``.

A card of a multi-plane network (MRC) is several ports, one in each plane, and spreads packets over those that work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.counted import ARTICLES, SPELT, number
from ncdiag.parsers.user_text.moods import stated, without_teller

_N = rf"(?:\d{{1,2}}|{'|'.join((*ARTICLES, *SPELT))})"
_OTHER = r"(?<!control )(?<!data )(?<!management )(?<!user )(?<!power )(?<!ground )(?<!mid)(?<!back)(?<!air)"
"""Planes of other things, which end in the same word."""
_PLANES = (
    rf"(?:(?P<n>{_N})\s)?(?:of\s(?:the\s|our\s|its\s|their\s)?(?P<total>{_N})\s)?"
    rf"(?:(?:network|nic|fabric|backend|back-end|card|ethernet|roce|mrc)\s)?{_OTHER}\bplanes?\b(?:\s\d{{1,2}}\b)?"
)
_GONE = r"(?:down|lost|dead|failed|fails|missing|gone|offline|unavailable|dark|out)\b"
_LOST = lazy_regex(
    rf"(?<![\w-]){_PLANES}(?:\s(?:of|on|in|at|to)\s[^,.;]{{1,60}}?)?\s"
    rf"(?:(?:is|are|was|were|went|goes|has|have|got|that|which|just|been|now)\s){{0,3}}{_GONE}"
    rf"|\b(?:los(?:s|t|es|ing)|failure|outage|without)\s(?:of\s)?{_PLANES.replace('P<', 'P<the_')}",
    re.IGNORECASE,
)
_TOTAL = lazy_regex(
    rf"(?<!other )(?<!remaining )\b(?P<total>{_N})[\s-]planes?\b(?!\s(?:is|are|was|were|went|has|have|of|on)\b)",
    re.IGNORECASE,
)

_BACK = lazy_regex(
    r"\b(?:is|are|came|comes|got|went|now)\s(?:\w+\s)?(?:back|up)\b|\b(?:restored|repaired|replaced|recovered|maintenance)\b",
    re.IGNORECASE,
)
"""The plane works again, or somebody switched it off."""


_ASIDE = lazy_regex(r"\s{0,2}\([^()]{0,80}\)(?=[\s,.;:!]|$)")
"""What stands in parentheses: ``One plane (planarized, 4 planes) failed`` is read without it."""


def read(sentence: str) -> list[tuple[str, str]]:
    """``plane-lost`` with a number of planes, of how many where that is named; ``planes`` with their number."""
    if "plane" not in sentence.lower():
        return []
    bare = without_teller(_ASIDE.sub("", sentence))
    said = stated(bare)
    beside = " ".join(found[0] for found in _ASIDE.finditer(sentence)) if said else ""
    return [] if _BACK.search(said) else list(_planes(said, beside))


def without_loss(sentence: str) -> str:
    """The sentence without the words that tell of a lost plane: the network goes on, so that they are no complaint."""
    if "plane" not in sentence.lower():
        return sentence
    bare = _ASIDE.sub("", sentence)
    return _LOST.sub("", bare) if _LOST.search(bare) else sentence


def _planes(said: str, beside: str) -> Iterator[tuple[str, str]]:
    found = _LOST.search(said)
    if found is not None:
        count, total = found["n"] or found["the_n"], found["total"] or found["the_total"]
        lost = number(count) if count else 1
        yield "plane-lost", f"{lost} of {number(total)}" if total else f"{lost}"
    if (whole := _TOTAL.search(said) or _TOTAL.search(beside)) and number(whole["total"]) > 1:
        yield "planes", f"{number(whole['total'])} planes"
