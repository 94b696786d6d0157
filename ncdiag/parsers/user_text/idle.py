"""Hosts on which people say that no job runs, and the IMEX service that is not ready: ``all idle nodes``."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated, without_teller

_HOSTS = r"(?:nodes?|hosts?|racks?|(?:compute\s)?trays?|machines?|servers?)"
_WORK = r"(?:jobs?|workloads?|pods?|compute\s?domains?|training|users?)"
_IDLE = lazy_regex(
    rf"\b(?:idle|unallocated|unused|free)\s(?:[\w-]+\s){{0,3}}{_HOSTS}\b"
    rf"|\b{_HOSTS}\s(?:[\w-]+\s){{0,2}}(?:is|are|was|were|sits?|stays?)\s(?:\w+\s)?(?:idle|unallocated)\b"
    rf"|\b(?:no|without\s(?:an?y?\s)?)\s?{_WORK}\s(?:\w+\s)?(?:runs?|running|ran|exists?|scheduled|started|on\s(?:it|them))\b"
    rf"|\b(?:nothing|no\sone|nobody)\s(?:is\s)?(?:runs?|running)\b|空闲的?\s?(?:节点|主机|机器)|没有(?:作业|任务)",
    re.IGNORECASE,
)
_NOT_READY = lazy_regex(
    r"\bimex\b[^.;]{0,40}?\b(?:not[\s_]?(?:yet\s)?(?:ready|up|running|active)|unready|down|unavailable|inactive)\b"
    r"|\b(?:not\sready|unready|down|unavailable)\b[^.;]{0,20}?\bimex\b",
    re.IGNORECASE,
)


def read(sentence: str) -> list[str]:
    """``hosts-idle`` and ``imex-not-ready``, as far as the sentence states them."""
    if not (_IDLE.search(sentence) or _NOT_READY.search(sentence)):  # few sentences, and the mood costs more
        return []
    said = stated(without_teller(sentence))
    return [name for name, pattern in (("hosts-idle", _IDLE), ("imex-not-ready", _NOT_READY)) if pattern.search(said)]
