"""How long people say that work, a pause or a limit of time lasts: ``saving takes 12 minutes``, ``after 10 minutes``.

A length belongs to what its clause is about; ``which takes 45 minutes`` is about the clause before it. What repeats
(``every 30 minutes``) or when something was (``ten minutes ago``) is no length, and the length of work is not that of
a wait: ``it hangs for 20 minutes while saving`` says only how long somebody watched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import Spell
from ncdiag.formats.units import unit_seconds
from ncdiag.formats.work_words import work_of
from ncdiag.parsers.user_text.moods import stated

_NUMBER = (
    r"(?P<number>\d{1,5}(?:\.\d{1,2})?|(?:half\s)?an?|one|two|three|four|five|six|ten|fifteen|twenty|thirty|forty"
    r"|sixty|半|[一两二三四五六十]{1,3})"
)
_UNIT = (
    r"(?P<unit>ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|秒钟?|分钟?|个?小时)(?![A-Za-z/]|\s?/)"
)
LENGTH = lazy_regex(rf"(?<![A-Za-z0-9_.,:/-]){_NUMBER}(?:\s?-\s?\d{{1,4}})?[\s-]?(?:more\s)?{_UNIT}", re.IGNORECASE)
"""A number with a unit of time; of a range (``10-12 minutes``) the first number."""
_MAY_HAVE = lazy_regex(r"(?i)\d\s?-?(?:ms|s|m|h)\b|sec|min|hour|\bhrs?\b|秒|分钟|小时")
_WORDS = {
    "a": 1, "an": 1, "half a": 0.5, "half an": 0.5, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "sixty": 60, "半": 0.5, "一": 1, "两": 2,
    "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "十": 10, "二十": 20, "三十": 30, "四十": 40,
}  # fmt: skip
_CLAUSES = lazy_regex(
    r"[;,()\uff0c\uff1b\u3001\uff08\uff09]|\s[-\u2013\u2014]\s"
    r"|\b(?:but|while|whereas|and\sthen|and\sthe\s(?:other|rest|job)|then|so|because|before|whenever|when|until|until"
    r"|if)\b|而(?!且)|但是?|然后|所以",
    re.IGNORECASE,
)
_RELATIVE = lazy_regex(
    r"\s*(?:and\s)?(?:which|that|this|it)\b|\s*(?:takes?|took|needs?|lasts?|usually|typically|about|around|roughly"
    r"|approximately|~|up\sto|需要|耗时|花了?|大约|约)",
    re.IGNORECASE,
)
"""The beginning of a clause that is about the one before it."""
_MAY_BETWEEN = lazy_regex(r"(?i)\bnat\b|balancer|\b[ng]w?lb\b|network\sfirewall")
_PRODUCTS = (
    (350.0, lazy_regex(r"(?i)\b(?:network|gateway)\sload[\s-]?balancer|\bnlb\b|\bgwlb\b|\baws\snetwork\sfirewall")),
    (
        240.0,
        lazy_regex(
            r"(?i)\bazure\b.{0,80}\b(?:load[\s-]?balancer|nat[\s-]gateway)|\b(?:load[\s-]?balancer|nat[\s-]gateway).{0,40}\bazure\b"
        ),
    ),
    (1200.0, lazy_regex(r"(?i)\bcloud\snat\b")),
)
"""Idle timeouts of TCP by default.

AWS: docs.aws.amazon.com/elasticloadbalancing/latest/network/update-idle-timeout.html,
TcpIdleTimeoutSeconds of Network Firewall. Azure: learn.microsoft.com/azure/load-balancer/load-balancer-tcp-reset and
nat-gateway-resource. Google: cloud.google.com/nat/docs/tune-nat-configuration.
"""
_BELOW = lazy_regex(
    r"\b(?:(?:less|shorter|fewer|faster)\sthan|under|below)\s*(?:about\s|around\s|~\s?)?$", re.IGNORECASE
)
_WELL = lazy_regex(
    r"\b(?:works?|fine|survives?|succeeds?|runs?|ok|no\s(?:problem|error)s?|never\sfails?)\b", re.IGNORECASE
)
_PAUSE = lazy_regex(
    r"\b(?:pauses?|paused|idle|quiet|silent|silence|no\straffic|without\s(?:any\s)?traffic|inactiv\w*)\b|空闲|静默",
    re.IGNORECASE,
)
_BETWEEN = (
    r"(?:\bnat\b|firewalls?|load[\s-]?balancers?|\b[nae]?lbs?\b|gateways?|vpns?|stateful|middlebox\w*|conntrack"
    r"|connection[\s-]track\w*|security\s(?:group|appliance)s?|appliances?|prox(?:y|ies)|防火墙|网关|负载均衡)"
)
_IDLE_LIMIT = lazy_regex(
    rf"\b(?:idle|inactiv\w*)[\s-](?:connections?\s)?(?:time-?outs?|limits?|timers?)"
    rf"|{_BETWEEN}[^.;]{{0,60}}?\b(?:drops?|closes?|kills?|forgets?|expires?|removes?|cuts?|times?\sout|purges?|resets?|evicts?)\b"
    rf"|空闲超时|空闲[^.;]{{0,10}}断开",
    re.IGNORECASE,
)
_LIMIT = lazy_regex(
    r"time-?outs?\b|time\sout\b|timed\sout|times\sout|timing\sout|time\slimit|watchdog|超时", re.IGNORECASE
)
_ENDED = lazy_regex(
    r"\b(?:die|dies|died|fail|fails|failed|abort\w*|crash\w*|killed|give\sup|gives\sup|gave\sup)\s(?:\w+\s){0,3}after\b"
    r"|\bafter\s[^,;.]{0,30}\b(?:die|dies|fail|fails|abort\w*|crash\w*|killed|gives?\sup)\b",
    re.IGNORECASE,
)
_DEFAULTS = (600.0, 1800.0)
"""Time limits of PyTorch's process groups where nobody sets one: 10 minutes of NCCL, else 30."""
_WAITED = lazy_regex(
    r"\b(?:hang\w*|hung|stuck|stall\w*|frozen|freez\w*|wait\w*|sits?|block\w*)\b|卡住|等待", re.IGNORECASE
)
_TAKES = lazy_regex(
    r"\b(?:takes?|took|taking|needs?|lasts?|lasted|last|spends?|runs?\sfor|runs?|requires?|longer|exceeds?|over|more\sthan|for|in|of"
    r"|long|about|around|roughly)\b|~|超过|需要|耗时|花|长达|大约|约",
    re.IGNORECASE,
)
"""What says that a length is that of the work beside it."""
_NO_LENGTH = lazy_regex(
    r"(?:\b(?:every|each|per|last|next|first|past|within|under|below|only|just|(?:less|shorter|fewer|faster)\sthan)"
    r"|每隔?|不到)\s*(?:about\s|around\s|~\s?)?$",
    re.IGNORECASE,
)
_NO_LENGTH_AFTER = lazy_regex(r"\s?(?:(?:ago|earlier|later|into|in|apart)\b|前|后)", re.IGNORECASE)
_AFTER = lazy_regex(r"\b(?:after|后)\s*(?:about\s|around\s|exactly\s|~\s?)?$", re.IGNORECASE)
_BEHIND = lazy_regex(
    r"[\s-](?:long\s|of\s)?(?:\w+\s)?(?:evaluat|validat|sav(?:e|ing)|checkpoint|tokeni|pre-?process|download|compil|load"
    r"|generat|rollout)",
    re.IGNORECASE,
)
"""Work that comes immediately after its length: ``20-minute evaluation``, ``12 minutes of saving``."""
_NEEDS = lazy_regex(r"需要(?=\s?(?:大?约|大概)?\s?[\d半一两二三四五六十])")
"""A need that is a length, and no plan."""
_MOST = 4


class Length(msgspec.Struct, frozen=True):
    """A length: what it is of, and its seconds."""

    of: Spell
    seconds: float


def read(sentence: str) -> list[Length]:
    """The lengths that a sentence states."""
    if not _MAY_HAVE.search(sentence):
        return []
    said = stated(_NEEDS.sub("耗时", sentence))
    return list(dict.fromkeys(_told(said)))[:_MOST]


def of_product(sentence: str) -> Length | None:
    """How long a product that a sentence names keeps idle connections where nobody sets it."""
    if not _MAY_BETWEEN.search(sentence):
        return None
    said = stated(sentence)
    return next((Length("idle-limit", seconds) for seconds, product in _PRODUCTS if product.search(said)), None)


def seconds_of(found: re.Match[str]) -> float:
    """The seconds of a length."""
    number = found["number"].lower()
    amount = _WORDS[number] if number in _WORDS else float(number) if number[0].isdigit() else 0.0
    return amount * unit_seconds(found["unit"])


def _told(said: str) -> Iterator[Length]:
    clauses = _clauses(said)
    for found in LENGTH.finditer(said):
        seconds = seconds_of(found)
        number = next(index for index, (_, end) in enumerate(clauses) if found.start() < end)
        start, end = clauses[number]
        clause, before = said[start:end], said[start : found.start()]
        if seconds and _BELOW.search(before) and _WELL.search(said) and (work_of(clause) or _PAUSE.search(clause)):
            yield Length("short-pause", seconds)
        if not seconds or _NO_LENGTH.search(before) or _NO_LENGTH_AFTER.match(said, found.end()):
            continue
        if not _named(clause) and number and (_RELATIVE.match(clause) or said[start - 1 : start] in "(\uff08"):
            clause = said[clauses[number - 1][0] : end]
        of = _of(clause, before, said[found.end() : end], seconds)
        if of is not None:
            yield Length(of, seconds)


def _clauses(said: str) -> list[tuple[int, int]]:
    """(start, end) of each clause."""
    between = list(_CLAUSES.finditer(said))
    starts, ends = [0, *(found.end() for found in between)], [*(found.start() for found in between), len(said)]
    return [(start, max(start, end) if end < len(said) else end + 1) for start, end in zip(starts, ends, strict=True)]


def _named(clause: str) -> bool:
    return any(p.search(clause) for p in (_IDLE_LIMIT, _LIMIT, _ENDED, _PAUSE)) or work_of(clause) is not None


def _of(clause: str, before: str, behind: str, seconds: float) -> Spell | None:
    """What a length in this clause is of; ``before`` and ``behind``: the clause around it."""
    if _IDLE_LIMIT.search(clause):
        return "idle-limit"
    if _LIMIT.search(clause) or (seconds in _DEFAULTS and _ENDED.search(clause)):
        return "limit"
    if _WAITED.search(clause) or (_AFTER.search(before) and not _BEHIND.match(behind)):
        return None
    if _PAUSE.search(clause):
        return "pause"
    of = work_of(clause)
    is_its = _TAKES.search(clause) or behind.startswith("-") or before.rstrip()[-1:] in {":", "=", "(", "\uff08"}
    return of if of is not None and (is_its or _BEHIND.match(behind)) else None
