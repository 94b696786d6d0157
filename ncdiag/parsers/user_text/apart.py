"""Hosts or GPUs that work each alone: ``every node works on its own``. It is a trial of one of them."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import holds, segments, split_question
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.trials import Found

_EACH = (
    r"(?:each|every|both|all|either)\s(?:one\s)?(?:of\s)?(?:(?:the|my|our|these|those)\s)?(?:\w+\s){0,2}?"
    r"(?P<N>nodes?|hosts?|machines?|servers?|gpus?|cards?)"
)
_WELL = r"(?:works?|worked|working|runs?|ran|running|trains?|trained|passe[sd]|succeed(?:s|ed)?|completed?|fine|ok)"
_ALONE = (
    r"(?:alone|separately|individually|respectively|independently|in\sisolation|one\sby\sone|one\sat\sa\stime"
    r"|(?:on|by)\s(?:its|their)\sown|by\s(?:itself|themselves))"
)
_APART = lazy_regex(
    rf"\b{_EACH.replace('<N>', '<one>')}\s(?:\w+\s){{0,3}}?{_WELL}\b[^.;:]{{0,40}}?\b{_ALONE}\b"
    rf"|\b{_WELL}\s(?:\w+\s){{0,2}}?on\s{_EACH.replace('<N>', '<two>')}\s{_ALONE}\b"
    rf"|\b{_ALONE},?\s{_EACH.replace('<N>', '<three>')}\s(?:\w+\s){{0,3}}?{_WELL}\b"
    r"|(?:每[台个张]|各)(?P<four>机器|节点|主机|卡)?\S{0,2}(?:单独|分别|各自)\S{0,6}(?:正常|没问题|可以|成功)",
    re.IGNORECASE,
)
_NOT = lazy_regex(r"\b(?:not|never|fail\w*|hang\w*|only|cannot)\b|n't\b|不", re.IGNORECASE)
_OF_GPUS = ("gpu", "card", "卡")


def read(sentence: str) -> list[Found]:
    """The trial of one host, or one GPU, that the sentence says to work."""
    if not _APART.search(sentence):
        return []
    said, asked = split_question(sentence)
    for begin, part in segments(said):
        found = _APART.search(part)
        if found is not None and not asked and holds(part) and not _NOT.search(found[0]):
            of = next(filter(None, found.group("one", "two", "three", "four")), "").lower()
            return [Found(Change("one-gpu" if of.startswith(_OF_GPUS) else "one-host"), "works", begin + found.start())]
    return []
