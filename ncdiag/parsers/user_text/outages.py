"""How long a link, a switch or a network was down: ``down for 19 seconds``, ``an outage of 2 minutes``."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated

_LENGTH = (
    r"(?P<number>\d{1,4}(?:\.\d)?)[\s-]?(?P<unit>sec(?:ond)?s?|s|min(?:ute)?s?|秒|分钟)(?![A-Za-z/]|\sago\b|\sbefore\b)"
)
_PART = (
    r"(?:(?:links?|ports?|switch(?:es)?|leaf|leaves|spines?|fabric|networks?|uplinks?|rails?|cables?|subnet\smanager|sm|path"
    r"|connectivity)\b|链路|端口|交换机|网络)"
)
_GONE = (
    r"(?:down(?:time)?|gone|away|lost|unreachable|unavailable|reboot\w*|restart\w*|fail(?:ed|s|ing)?\s?over|fail-?overs?"
    r"|flap\w*|outages?|interrupt\w*|blips?|中断|掉线|重启|断开|断了)"
)
_OUTAGE = lazy_regex(
    rf"{_PART}[^.;?!\n]{{0,80}}?{_GONE}[^.;?!\n]{{0,40}}?{_LENGTH}"
    rf"|{_GONE}\s(?:of|for)\s[^.;?!\n]{{0,60}}?{_PART}[^.;?!\n]{{0,40}}?{_LENGTH.replace('P<', 'P<the_')}"
    rf"|{_LENGTH.replace('P<', 'P<a_')}[\s-](?:network\s|link\s)?"
    r"(?:outages?|interruptions?|blips?|flaps?|failovers?)\b",
    re.IGNORECASE,
)
_SUPPOSED = lazy_regex(
    r"\b(?:if|would|could|may|might|should|not|never|no|every|each|another|last|works?|within|before|ago|lab|ping)\b|n't\b"
    r"|\bin\s(?:about\s)?\d|\bafter\s\d|如果|要是|没有",
    re.IGNORECASE,
)
"""Words of a sentence that supposes an outage, denies it, or is about another one."""
_MINUTE = 60.0


def read(sentence: str) -> float | None:
    """The length of the outage that the sentence reports, in seconds; None if it reports none."""
    if not _OUTAGE.search(sentence):  # few sentences have one, and the mood is computed for these alone
        return None
    said = stated(sentence)
    found = _OUTAGE.search(said) if not _SUPPOSED.search(said) else None
    if found is None:
        return None
    named = found.groupdict()
    number, unit = next((named[f"{p}number"], named[f"{p}unit"]) for p in ("", "the_", "a_") if named[f"{p}number"])
    return float(number) * (_MINUTE if unit[0] in "mM分" else 1.0)
