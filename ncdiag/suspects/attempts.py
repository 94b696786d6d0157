"""Lists of what somebody tried: an item of one was done because of the trouble, not before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span

MARK = "tried"
"""The word that an item counts as having, besides its own."""
_HEADING = lazy_regex(
    r"""[\s#*_>]*(?:
        (?:what|things?|steps?|everything|stuff|solutions?|workarounds?|fixes|remedies|actions?)\b[^.?!:]{0,40}
            \b(?:tried|attempted|taken|done)\b[^.?!:]{0,30}
      | (?:(?:so\sfar|here|already),?\s)?(?:i|we)(?:'ve|\shave)?\s(?:also\s|already\s)?(?:tried|attempted)\b
            [^.?!:]{0,40}(?=:)
      | (?:already\s|also\s)?(?:tried|attempted|attempts)(?:\s(?:so\sfar|already|without\s(?:success|luck)|in\svain))?
      | troubleshooting\s(?:steps|done|attempts|so\sfar)\b[^.?!:]{0,30}
      | (?:我们?)?(?:已经?|都)?(?:尝试|试)过?[^。？！:：]{0,12}(?:如下|方法|办法|措施|操作)?(?=[:：])
    )[\s*_:：]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ITEM = lazy_regex(r"\s*(?:[-*+\u2022]|\d{1,2}[.)]|\[[ x]\])\s+\S")


def attempts(spans: Iterable[Span]) -> Iterator[Span]:
    """The items below a heading such as "What I've tried:", up to the first line that is not an item or indented."""
    is_below, source = False, ""
    for span in spans:
        text = span.text
        if _HEADING.match(text):
            is_below, source = True, span.source
        elif is_below and text.strip():
            is_below = span.source == source and (_ITEM.match(text) is not None or text[:1].isspace())
            if is_below:
                yield span
