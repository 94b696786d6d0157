"""Labels above outputs that say whether the machine works: ``Good node:``, ``On the failing server (n7):``."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.described_hosts import BAD, GOOD, MACHINES, name_of

_DESCRIBED = lazy_regex(
    r"(?P<mark>[#*_\s]{0,8})(?:(?:and|here\sis)\s)?(?:outputs?\s)?(?:(?:on|from|of|for)\s)?(?:the\s|an?\s|our\s|my\s)?"
    rf"(?P<how>{GOOD}|{BAD})\s(?P<what>{MACHINES})"
    r"(?:\s?[(:,]?\s?(?P<host>(?=[\w-]*\d)[A-Za-z][\w.-]{1,62})\)?)?"
    r"\s?(?P<end>[:\uff1a*_#\s]{0,6})$",
    re.IGNORECASE,
)


def described(line: str) -> str | None:
    """``bad-node`` for ``Bad node:``, or the name that follows; None unless the line is a label or a heading."""
    found = _DESCRIBED.match(line)
    if found is None or not (":" in found["end"] or "\uff1a" in found["end"] or found["mark"].strip()):
        return None
    return found["host"] or name_of(found["how"], found["what"])
