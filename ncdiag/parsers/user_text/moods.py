"""Whether what a sentence says was done and holds: what is asked, wished, planned, heard, unsure or advised does not.

A sentence falls into segments at ``but``, ``so`` and the like. What is heard or wished colours its whole segment.
"""

from __future__ import annotations

import functools
import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers.user_text.words import HAN

_FLAGS = re.IGNORECASE | re.VERBOSE
SEGMENTS = lazy_regex(
    r"""\s*(?:[,;]|\s[-\u2013\u2014]\s)?\s*\b(?:but|however|yet|although|though|whereas|while)\b\s*
    | ,\s(?=(?:so|which|maybe|perhaps|probably|please|any|thanks)\b) | ;\s
    | [\uff0c,]?\s?(?:但是?|可是|不过|然而|只是) | \uff1b""",
    _FLAGS,
)
_ASIDE = lazy_regex(r"\W*(?:please|sorry|btw|ps)\b[^,]{0,80},\s", re.IGNORECASE)
_OWN = guarded_regex(
    r"\baccording\sto\s(?:your|their|his|her)\s(?:suggestion|advice|comment|instruction|recommendation|hint|reply)s?\b"
    r"|\baccording\sto\s(?:the\s|its?\s)?(?:nccl|lspci|dmesg|logs?|output|\w+[-_](?:smi|tool|tests?|perf|mi)|\w*stat)\b"
    r"|\bas\s(?:(?:the|your|our|their)\s\w+\s)?(?:ha[sd]\s|have\s)?(?:suggest|recommend|advise|describe|propose"
    r"|say|state|mention)(?:d|s|ed)?\b(?:\s(?:by|in|on|here|above)\b(?:(?!\sif\b)[^,.]){0,60})?|\b(?:the|your"
    r"|their|this)\s(?:suggested|recommended|proposed)\b|\bcould\s(?:work|run|train)\s(?:well|fine|normal(?:ly)?"
    r"|successfully|properly)\b|\b(?:does\snot|doesn'?t|did\snot|didn'?t|no)\s(?:matter|difference)\s(?:if"
    r"|whether)\b|\bregardless\sof\swhether\b|\b(?:i|we)\scould\s(?:find|get|see|think|reach|do|lay)\b"
    r"|\bwhether\s[^,.;]{1,60}\sor\snot\b|\bbisect\s(?:says|points\sto|claims)\b|\b(?:we|i)\s(?:must\s|would\s"
    r"|can\s)?(?:say|claim|report(?:ed)?)\b|\bcould\snot\b|\bcouldn'?t\b",
    _FLAGS,
)
"""Words that look like another's, and are the writer's own."""
_HEARD = r"""
    \b(?:(?<!it\s)says|said|claims?|claimed|suggests?|suggested|recommends?|recommended|advised|states|mentions
    |according\sto
      |i(?:\shave|'ve)?\s(?:also\s|once\s)?(?:read|heard)\b(?!\s(?:the\slog|no)) | read\ssomewhere
      |supposed(?:ly)?|allegedly|reportedly|people\s(?:who|say|report|online)|(?:someone|somebody|others
      |they)\s(?:say|report|wrote|had)
      |(?:i|we)\s(?:was|were|am|got|have\sbeen)\s(?:told|assured)|(?:(?<=^)|(?<=[,.?!]\s))(?:was|were|got|been)\stold
      |promises|documented|advice|(?:isn't|not)\strue|for\s(?:him|her|them)|(?:other|another)\s(?:person|user|people)
      |the\sforum|(?:colleagues?|friends?|boss|admins?|they|he|she|others|people|vendor|support)\s(?:\w+\s)?
      (?:thinks?|thought|believes?|suspects?|guess(?:es)?|blames?|assumes?))\b
  | 听说|据说|有人(?:说|建议|提到)|(?:文档|网上|官方|教程|手册|论坛)(?:里|上|中)?(?:都|也)?(?:说|建议|提到|写)"""
_UNSURE = r"""
    \b(?:(?:i|we)\s(?:do\snot|don'?t)\s(?:really\s)?(?:think|believe|know|understand\s(?:if|whether))|not\ssure
    |unsure|doubt
      |cannot\s(?:say|tell|confirm|verify)|can'?t\s(?:say|tell|confirm|verify)|no\sidea\s(?:if|whether)|whether
      |perhaps|maybe
      |probably|possibly|presumably|apparently|(?:i|we)\s(?:guess|assume|suspect|suppose|wonder)|wondering|(?:i
      |we)\s(?:\w+\s)?(?:thought|believed|hoped)
      |hardly|rarely|seldom|barely|theoretically|in\stheory)\b
  | 不知道|不确定|不清楚|是否|能不能|会不会|可能|也许|或许|大概|应该|估计|理论上|很少|几乎不"""
_WOULD = r"""
    ^\W*if\s(?:\S+\s){1,6}?(?:helps|fixes\s(?:it|this)|solves\s(?:it|this))\s?, | ^\W*(?:try|consider)\s\w+ing\b |
    \b(?:would|might|may|should|shall|ought\sto|could|can\s(?:\w+ly\s|also\s|sometimes\s)?(?:help|fix|solve|resolve|improve|increase|reduce|cause|lead\sto|boost|hurt|degrade|lower
      |avoid|prevent|speed)|in\s(?:most|many|some|such)\scases|as\sa\srule|typically
      |(?:often|usually|sometimes|generally)\s(?:helps?|fixes|solves|cures|suffices)|(?:helps?|fixes|solves)\s(?:often|sometimes)
      |'d\s(?:work|help|fix)|supposed\sto)\b | ^\W*had\s(?:it|i|we
    |they)\b | \bi'd\ssay\b | 如果.*那"""
_PLANNED = r"""
    \b(?:going\sto|gonna|plan(?:ning|s|ned)?(?:\sto)?|i'll|we'll|will\s(?:try|test|set|check|update|report)|to-?do
    |tomorrow|next\sweek
      |please|(?:have\snot|haven'?t|did\snot|didn'?t|not|never)\s(?:yet\s)?(?:tried|try|tested|test)\b|untested
      |not\syet|let\sme|check\s(?:that|whether|if)|(?:to|and|then)\s(?:verify|see|test)\s(?:that|whether|if)
      |about\sto|if\syou|before\s(?:setting|trying|using)|make\ssure|(?:try|consider)\s(?:setting|using|to)
      |you\s(?:have\sto|need\sto|must|can|will)|do(?:\snot|n'?t)\s(?:do|use|set|try|run))\b
  | 打算|准备|计划|想试|还没试?|没试|没有试|待测|待验证|请|建议|需要"""
_WISHED = r"""
    \b(?:wants?|wanted|wish(?:es)?|hop(?:e|es|ing)|would\slike|'d\slike|so\sthat|in\sorder|needs?\sto\s(?:work|run
    |be)|expect(?:ed|s)?|ideally|goal)\b
  | 想要|希望|期望|想让|期待|为了"""
_WITHDRAWN = guarded_regex(
    r"""\b(?:do(?:\snot|n'?t)|never)\s(?!remove|touch|change|edit|delete|unset|forget|alter|move|drop|lose)\w
      | \b(?:not|isn't|never)\s(?:yet\s)?(?:set|used|applied|active|exported|enabled|tried|in\suse)\b
      | \bno\slonger\s(?:set|used|needed|in\suse)\b | \bnot\s(?:needed|used|required)\sany\s?more\b
      | \b(?:removed|unset|reverted|taken\sout|commented\sout|to-?do\b | (?:will|to)\s(?:try|test)) | ^\W*try\b
      | 没有?(?:设置?|用|加)|未设置|不要(?:设|用|加)|已(?:删除?|去掉|取消)|别(?:设|用|加)|待(?:试|测)""",
    _FLAGS,
)
"""What the remark behind a setting says when the setting is not, or no longer, made."""
_REMEMBERED = 256
"""Sentences and segments whose answer is kept: several readers ask of one, soon after each other."""
_NOT_SO = tuple(guarded_regex(pattern, _FLAGS) for pattern in (_HEARD, _UNSURE, _WOULD, _PLANNED, _WISHED))
_ASKS = lazy_regex(
    r"""\W*(?:(?:and|but|so|or|also|then|(?:hi|hello|hey|dear)\b[^,.?]{0,20}|well)\W+)?(?:do|does|did|is|are|was|were
      |should|would|could|can
      |will|has|have|had|may|what|which
      |how|who|where|when|whether|any(?:one|body)?|if|am|shall)\b""",
    _FLAGS,
)
_WHY = lazy_regex(
    r"\b(?:why|how\scome|what(?:'s|\sis)\sthe\sreason|normal\sthat|know\swhat)\b|为什么|为何|为啥|怎么回事|咋回事",
    _FLAGS,
)
_MARK = lazy_regex(r"[?\uff1f]\W*$")
_CHINESE_ASKS = lazy_regex(
    r"(?:呢|么)\W*$|吗(?=[\s,\uff0c。\uff01!?\uff1f]|$)|(行|好|对|可|要|能|会)不\1|是不是|有没有|如何|怎么(?!回事)|怎样|哪个|什么|能否|可否|是否|能不能|会不会"
)
_LAST = lazy_regex(r"^(.*)[,\uff0c;]\s*([^,\uff0c;]{1,80})$", re.DOTALL)
_QUOTED = lazy_regex(r"[\"\u201c]([^\"\u201c\u201d]{20,400})[\"\u201d]")
_WORDS_QUOTED = 4


_REASON = lazy_regex(
    r"(\b(?:put|set|add(?:ed)?|use|have|keep|kept|export(?:ed)?"
    r"|pass(?:ed)?)\b[^.;]{0,80}?(?:[A-Z]\w*_\w+=[^\s,;]+|\bit\b)[^.;,]{0,40}?,?\s?)(\b(?:because\sof|due\sto"
    r"|owing\sto|(?:since|because|as)\s(?:we|i|there)\s(?:once\s)?(?:had|was|were|got))\b[^.;]*)",
    re.IGNORECASE,
)


def without_reasons(text: str) -> str:
    """The sentence with blanks in place of the trouble for which something was set: it is not that of now.

    A variable may be ``it`` here, as it is where the form of a sentence is judged.
    """
    return _REASON.sub(lambda m: m[1] + " " * len(m[2]), text)


def without_quotes(text: str) -> str:
    """The sentence with blanks in place of what it quotes: four words and more in quotation marks."""
    if '"' not in text and "\u201c" not in text:
        return text
    return _QUOTED.sub(lambda m: " " * len(m[0]) if len(m[1].split()) >= _WORDS_QUOTED else m[0], text)


def split_question(text: str) -> tuple[str, bool]:
    """What a sentence states, and whether it asks the rest.

    ``It works with X, why?`` states all before the comma; ``why does it work with X?`` takes for granted what it asks.
    """
    asks = _MARK.search(text) is not None or (HAN.search(text) is not None and _CHINESE_ASKS.search(text) is not None)
    inverted = _ASKS.match(text) is not None
    if not asks or (_WHY.search(text) and not inverted):
        return text, False
    found = _LAST.match(text)
    if found and not inverted and (_ASKS.match(found[2]) or _WHY.search(found[2]) or _CHINESE_ASKS.search(found[2])):
        return found[1], False
    if _WHY.search(text) and re.search(r"\bwhy\s(?:do|does|did|is|are)|\bthat\b", text, re.IGNORECASE):
        return text, False
    return "", True


@functools.lru_cache(_REMEMBERED)
def segments(text: str) -> tuple[tuple[int, str], ...]:
    """The parts of a sentence that stand for themselves, with where they begin."""
    result: list[tuple[int, str]] = []
    begin = 0
    if aside := _ASIDE.match(text):
        result, begin = [(0, text[: aside.end()])], aside.end()
    for found in SEGMENTS.finditer(text, begin):
        result.append((begin, text[begin : found.start()]))
        begin = found.end()
    return (*result, (begin, text[begin:]))


def is_withdrawn(remark: str) -> bool:
    """True if what somebody remarks on a setting says that it is not made: ``do NOT do this``, ``removed again``."""
    return _WITHDRAWN.search(remark) is not None


@functools.lru_cache(_REMEMBERED)
def holds(segment: str) -> bool:
    """True if the segment says what was done and is so, in the writer's own name."""
    own = _OWN.sub(" ", segment)
    return not any(pattern.search(own) for pattern in _NOT_SO)


def stated(sentence: str) -> str:
    """What the sentence says was done and is so, without its quotations; empty for a question, a plan or a wish."""
    said, asked = split_question(without_quotes(sentence))
    return said if not asked and holds(said) else ""


_TELLER = lazy_regex(
    r"^[^,.;]{0,60}\b(?:says?|said|reports?|reported|confirms?|confirmed|tells?|told)\s"
    r"(?:(?:me|us)\s)?(?:that\s)?(?=\w)",
    re.IGNORECASE,
)
"""Who reports it: a team that sees the network knows."""


def without_teller(sentence: str) -> str:
    """The sentence without who reports it at its start: ``the network team says that one plane is down``."""
    return _TELLER.sub("", sentence)
