"""Tell a person's sentence from what a program printed.

A program's line has a prefix, a path, a level, an assignment or few words; a person writes sentences: common words of
small size between the others, or letters of another script.
"""

from __future__ import annotations

import functools
import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import _languages
from ncdiag.parsers._languages import SCRIPT

_LONGEST = 2000
_REMEMBERED = 1 << 14
"""Lines whose answer is kept: several ask of one line, one after the other."""
_WORD = lazy_regex(r"[(\"']{0,2}[^\W\d_](?:[^\W\d_]|['\u2019-])*[.,;:!?)\"']{0,3}")
_SIGNS_NEEDED = 4
_PROGRAM = lazy_regex(
    r"\s*(?:\[|<|\{|\+ |\$ |#!|//|/\*|at |File \"|Traceback|[\w./-]+:\d+[: ]|\d+: |\d{4}-\d\d-\d\d|\w+\("
    r"|[A-Z][A-Z_0-9]{2,}=|\S+\.py\b"
    r"|(?:raise|return|yield|assert|await)\s[\w.]+\("
    r"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|NOTE)\b[: \d|-]|[EWI]\d{4}"
    r"|(?!(?:note|update|edit|btw|ps|hi|hello|problem|issue|question)\b)[a-z][\w./-]{1,40}(?:\[\d+\])?: "
    r"|(?:Error|Warning|Note): |[A-Za-z_.]+(?:Error|Exception|Warning)\b:|\S.{0,78}?[ \t]{2,}[:|]\s)"
)
_MARKUP = lazy_regex(r"\*\*|`[^`]{0,80}`|\[(?=[^\]]{1,80}\]\()|\]\([^)\s]{1,300}\)")
"""Emphasis, quoted names and links of Markdown, which are no words of the sentence."""
_MARKER = lazy_regex(r"^[#>*\s-]*(?:\d{1,2}[.)]\s)?")
"""What comes before a sentence in a list, a heading or a quotation."""
_SMALL = frozenset(
    """a about after all also although always am an and any are as at be because been before but by can could did do
    does doing every everything for from had has have how if in into is it its itself just like maybe more most never no
    not
    nothing of on once one only or other our out same see seems should since so some sometimes still such than that the
    their
    them then there these they this to too under until up was we were what when where which while who why will with
    without would gets got both each via between""".split()  # noqa: SIM905  (words read best in a row)
)
_PERSON = frozenset(
    """i i'm i've i'd me my mine we we're we've our us you your please thanks thank help hi hello anyone anybody idea
    wonder why how what hope sorry question problem issue""".split()  # noqa: SIM905
)
_RATE = lazy_regex(r"~?\d[\d.,]*(?:[KMGTkmgt]i?[Bb]\S{0,4})?|[KMGTkmgt]i?[Bb](?:it)?(?:/s(?:ec)?|ps)[.,;]?")
"""Numbers and units, which people compare in sentences."""
_WORDS_NEEDED, _SMALL_NEEDED = 4, 2
_SHARE = 0.6


_VOICE = lazy_regex(
    r"\b(?:I(?!/)|I'm|I've|I'd|my|our|anyone|anybody|thanks|thank\syou|hello|hi|hey|any\s(?:idea|help|suggestion"
    r"|advice|hint)s?)\b"
    r"|\bwe\s(?:have|had|are|were|see|saw|run|ran|use|used|tried|get|got|observe|notice|noticed|found|set|can|cannot"
    r"|can't|do)\b"
    r"|\b(?:ich|wir|unser(?:e[mnrs]?)?|mein(?:e[mnrs]?)|hallo|danke|gr\u00fc\u00dfe|nous|notre|j'ai|merci|bonjour|salut"
    r"|nuestr[oa]s?|tengo|tenemos|hola|gracias|noss[oa]s?|temos|ol\u00e1|obrigad[oa]|nostr[aeio]|abbiamo|ciao|grazie)\b"
    r"|\?\s*$",
    re.IGNORECASE,
)
"""Words by which people speak of themselves, or to others, in English and in the languages of `_languages`."""
NOBODY = lazy_regex(
    r"\b(?:nothing|nobody|none(?:\sof\s(?:\w+\s){0,2}\w+)?|no\s(?:\w+\s)?(?:jobs?|ranks?|process(?:es)?|nodes?|hosts?))\s"
    r"(?:(?:has|have|had|is|are|was|were|ever|really|actually|even)\s){0,2}"
    r"(?:crash\w*|fail(?:s|ed)?|hangs?|hung|hanging|died?|dies|dead|broken?|stuck)\b",
    re.IGNORECASE,
)
"""What nobody and nothing does: ``nothing crashed``."""


def is_voiced(text: str) -> bool:
    """True if the sentence mentions its writer or asks, which programs do not."""
    return _VOICE.search(text[:_LONGEST].replace("\u2019", "'")) is not None or SCRIPT.search(text) is not None


_TALK = lazy_regex(r"\b(?:if|when|whenever|should|would|I(?!/)|we|my|our|you|your|may|might)\b|\?\s*$", re.IGNORECASE)
_DENIED = lazy_regex(
    r"(?:\b(?:no|not|never|without|(?<=no\s)longer|(?<=any\s)longer|past|against|rid\sof|free\sof|fix(?:es|ed)|solve[sd]|resolve[sd]|cure[sd]|hides|masks|gone|stopped|avoids?|prevents?)|n't)"
    r"\s(?:\w+\s){0,2}$|\binstead\sof\s(?:an?\s|the\s)?$",
    re.IGNORECASE,
)
"""What is in front of a word to deny it."""
_GONE = lazy_regex(
    r"\s(?:\w+\s)?(?:vanish(?:es|ed)|disappear(?:s|ed)|(?:is|are|was|were)\s(?:now\s)?(?:gone|fixed|solved|resolved)"
    r"|goes\saway"
    r"|(?:have|has)(?:n't|\snot|\snever)\s(?:been\s)?(?:seen|happened|occurred|reappeared|come\sback)"
    r"|went\saway)\b|\s?(?:消失|没了)",
    re.IGNORECASE,
)
"""What behind it says that it is over."""


def is_talk(text: str) -> bool:
    """True if the sentence mentions somebody, asks, or tells what may happen: nothing has just happened in it."""
    return _TALK.search(text) is not None


def is_said(pattern: re.Pattern[str], text: str) -> bool:
    """True if the pattern is in the text without a word in front that denies it."""
    return any(
        not (_DENIED.search(text[: found.start()]) or _GONE.match(text, found.end()))
        for found in pattern.finditer(text)
    )


def _words(text: str) -> tuple[list[str], list[str]]:
    """The parts of a line between blanks without marks of Markdown, and those that are words, in lower case."""
    tokens = _MARKER.sub("", _MARKUP.sub("", text), count=1).split()
    return tokens, list(filter(None, map(_word, tokens)))


@functools.lru_cache(_REMEMBERED)
def _word(token: str) -> str:
    """The word without the marks around it; empty for what is none."""
    return token.strip(".,;:!?()\"'").replace("\u2019", "'").lower() if _WORD.fullmatch(token) else ""


def is_curt(text: str) -> bool:
    """True if the line is of a few words, nothing but words, one of them small, as people write in a hurry."""
    tokens, words = ([], []) if _PROGRAM.match(text) else _words(text[:_LONGEST])
    return len(words) == len(tokens) > _SMALL_NEEDED and any(word in _SMALL or word in _PERSON for word in words)


def is_prose(text: str) -> bool:
    """True if the line, without its prefixes, reads like a sentence of a person."""
    return _is_prose(text.strip()[:_LONGEST])


@functools.lru_cache(_REMEMBERED)
def _is_prose(text: str) -> bool:
    if not text.isascii() and len(SCRIPT.findall(text)) >= _SIGNS_NEEDED:
        return _PROGRAM.match(text) is None
    if _PROGRAM.match(text):
        return False
    if text.count(" ") < _WORDS_NEEDED - 1:
        return False
    tokens, words = _words(text)
    if len(words) < _WORDS_NEEDED:
        return False
    if len(words) < _SHARE * len(tokens) and len(words) < _SHARE * sum(not _RATE.fullmatch(token) for token in tokens):
        return False
    small = sum((word in _SMALL) + 2 * (word in _PERSON) for word in words)
    return small >= _SMALL_NEEDED or _languages.of(words) is not None
