"""What somebody wants, or did by hand, is no trouble: ``P2P is off on purpose, but the job still hangs``.

Only the words of the intention go, with the state or the act that they qualify. What else the clause says stays.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex

_FLAGS = re.IGNORECASE | re.VERBOSE
_ADVERB = r"(?:intentionally|deliberately|on\spurpose|by\sdesign)"
_AS_IT_SHOULD = r"as\s(?:it\sshould|intended|planned)"
_MEANT = rf"(?:{_ADVERB}|intentional|deliberate|for\s(?:\w+\s)?maintenance|{_AS_IT_SHOULD})\b"
_BY_HAND = r"(?:killed|stopped|cancell?ed|aborted|ended)\sby\s(?:me|us|hand)\b"
_BE = r"\b(?:is|are|was|were|be|been|being|gets?|got|isn't|aren't)\s(?:not\s|never\s)?"
_STATE = r"(?:\w+ed|off|down|out|unused|empty|idle|missing|gone|\S+=\S+)"
_INTENDED = lazy_regex(rf"\b(?:{_MEANT}|{_BY_HAND})", _FLAGS)
_DENIED_PLAN = lazy_regex(
    rf"\b(?:not|\w+n't|never|cannot|no\slonger|instead\sof|rather\sthan|fails?\sto|failed\sto)\b[^.]*?\b{_AS_IT_SHOULD}\b",
    _FLAGS,
)
"""It does not do what it should: that is the trouble."""
_QUALIFIED = lazy_regex(
    rf"""(?:{_BE})?\b{_BY_HAND}
      | (?:{_BE}(?:\w+\s)?)?(?<!\S){_STATE}\s{_MEANT}
      | {_BE}{_ADVERB}\s(?:not\s|never\s)?{_STATE}\b
      | \b(?:intentionally|deliberately)\s(?:(?:do|does|did)(?:\s|n't\s))?(?:not\s|never\s)?
        (?!(?:and|or|in|on|at|by|for|with|from|here|there|now|the|then|it|since|when|until)\b)\w+
      | \b(?:intentional|deliberate)\s(?!(?:and|or|in|on|at|by|for|with|here|there|now|since|when)\b)\w+""",
    _FLAGS,
)
"""The intention next to what it qualifies; elsewhere it qualifies all that is before it."""
_CLAUSE = lazy_regex(r"([,;:]|\b(?:but|and|yet|so|while|because|after)\b)", re.IGNORECASE)
_WITHIN = lazy_regex(r"\b(?:when|whenever|if|since|once|until|before|where|although|though|unless)\s", re.IGNORECASE)
"""Where a clause begins within another."""


def without_intentions(sentence: str) -> str:
    """The sentence without what it says that somebody wanted."""
    if not _INTENDED.search(sentence):
        return sentence
    return "".join(map(_rest, _CLAUSE.split(sentence)))


def _rest(clause: str) -> str:
    if not _INTENDED.search(clause) or _DENIED_PLAN.search(clause):
        return clause
    clause = _QUALIFIED.sub(" ", clause)
    while meant := _INTENDED.search(clause):
        begin = max((found.end() for found in _WITHIN.finditer(clause, 0, meant.start())), default=0)
        clause = f"{clause[:begin]} {clause[meant.end() :]}"
    return clause
