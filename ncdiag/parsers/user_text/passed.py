"""How far a job came, told in a sentence of its own: ``It ran fine for 200 steps. Then it hangs.``.

The second sentence has to go on from the first (``then``, ``after that``, ``suddenly``), and the first must be about
this job: ``On one node it ran for 200 steps`` is about another one.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated

_MANY = (
    r"(?:about\s|around\s|roughly\s|almost\s|nearly\s|~\s?)?"
    r"(?:\d[\d,.]*k?|some|several|a\sfew|many|hundreds\sof|thousands\sof|an?|two|three|ten)\s?(?:hundred\s|thousand\s)?"
)
_UNITS = r"(?:(?:training\s)?steps?|iterations?|iters?|epochs?|batches|updates|hours?|minutes|mins?|days?)"
_RAN = lazy_regex(
    rf"\b(?:ran|runs|running|trained|trains|training|worked|works|went|goes|progress(?:es|ed)|started|starts)\b[^.;?!]{{0,40}}?"
    rf"\b(?:for|through|until|till|up\sto)\s(?:the\sfirst\s)?{_MANY}{_UNITS}"
    rf"|\b(?:the\sfirst|first)\s{_MANY}{_UNITS}\s(?:\w+\s){{0,2}}(?:run|ran|work(?:ed)?|pass(?:ed)?|went|go|complete[d]?|fine|ok|normal)\b"
    rf"|\b{_MANY}{_UNITS}\s(?:\w+\s){{0,2}}(?:ran|passed|went|completed|finished)\b"
    r"|(?:正常)?(?:跑|训练|运行)了\s?(?:\d+|几|若干)\s?(?:步|轮|小时|分钟|个?(?:step|iter|epoch))",
    re.IGNORECASE,
)
_OTHER = lazy_regex(
    r"\bon\s(?!(?:all|both|two|three|four|eight|\d+|several|multiple|the\s(?:cluster|job))\b)\b|\b(?:with|without|using|under|when|if|before|previous\w*|old\w*|yesterday|last|earlier|used\sto|single|one|another|other"
    r"|while|where|only)\b|之前|以前|单(?:机|卡)|用",
    re.IGNORECASE,
)
"""What makes the sentence one about another job, or another configuration of it."""
_THEN = lazy_regex(
    r"\W{0,3}(?:but\s|and\s)?(?:then|after\s(?:that|this)|afterwards|suddenly|all\sof\sa\ssudden|eventually|at\s(?:some|that)\spoint"
    r"|from\sthen\son|later)\b|\W{0,3}(?:但是?)?(?:然后|之后|接着|后来|突然)",
    re.IGNORECASE,
)


_AND_THEN = lazy_regex(
    r"\b(?:and|but)\s(?:then|suddenly|after\sthat)\b|,\s(?:then|suddenly)\b|然后|之后", re.IGNORECASE
)
HAD_RUN = "had-run"
"""The state of a job that made steps before it went wrong."""


def in_one(sentence: str) -> bool:
    """True if the sentence says that the job ran for some time and what came then."""
    found = _AND_THEN.search(sentence)
    return found is not None and goes_on(sentence[: found.start()], f"then {sentence[found.end() :]}")


def goes_on(before: str, sentence: str) -> bool:
    """True if the sentence says what came after the steps or hours that the sentence before it tells of."""
    if not (before and _THEN.match(sentence) and _RAN.search(before)):
        return False
    return not _OTHER.search(before) and _RAN.search(stated(before)) is not None
