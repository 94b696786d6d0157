"""What a person says goes wrong, in a sentence of their own: it hangs, fails, is slow, is wrong, is not used.

Only prose is asked (`ncdiag.parsers._prose`), and only where somebody speaks: programs write sentences as well. Words
that deny (``no longer hangs``) are no complaint.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ncdiag.facts.observe import Observation, observe
from ncdiag.parsers import _languages
from ncdiag.parsers._prose import is_curt, is_prose, is_said, is_voiced
from ncdiag.parsers.told import troubles
from ncdiag.spans import Section

_LOOKED_AT, _KEPT = 1000, 400
_TICKET = 300
"""Lines of program text that somebody pastes by hand."""
_WRITTEN = 300
"""Sentences that a person writes in a ticket; what holds more of them is a program's, or a book."""
_SURE = frozenset({"hangs", "slow", "wrong-results", "memory-grows"})
"""Troubles that programs do not write sentences about."""
_CURT = re.compile(
    r"\b(?:hangs?|hanging|hung|stuck|freezes|frozen|slow|slower|does(?:n't|\snot)\swork|not\sworking)\b", re.IGNORECASE
)
"""What few words complain of."""
_PLAIN = re.compile(
    r"\b(?:do|does|did|is|are)(?:\snot|n't)\s(?:\w+\s){0,2}work(?:ing)?\b|\beach\sother\b"
    r"|\bwork(?:s|ed|ing)?\s(?:\w+\s){0,3}(?:on|with|in)\s(?:\w+\s)?single\b"
    r"|\bsingle[- ]\w+\s(?:\w+\s)?(?:works|is\sfine)\b",
    re.IGNORECASE,
)
"""Nor do they write so of what does not work."""
_NOT = r"(?:not|n't|never|cannot|unable\sto|fails?\sto|failed\sto|refuses?\sto)\s(?:\w+\s){0,2}"
_HANGS = r"""
    hang(?:s|ing|ed)? | hung | stuck | freez(?:e|es|ing) | froze | frozen | stall(?:s|ed|ing)? | deadlock\w*
  | blocks?\sforever | waits?\sforever | forever | no\sprogress | unresponsive | time[sd]?\s?-?out
  | timing\sout | timeouts? | sits\s(?:there|idle) | just\ssits
  | nothing\s(?:moves|happens|progresses) | (?:not|n't|stops?|stopped)\s(?:moving|progressing)
  | never\s(?:returns?|ends?|finish\w*|complet\w*|starts?|gets?)
"""
_WRONG = r"""
    (?:wrong|incorrect|corrupt\w*|inconsistent)\s(?:\w+\s){0,2}(?:results?|values?|outputs?|data|sums?|gradients?|answers?)
  | (?:loss|gradients?)\s(?:\w+\s){0,3}(?:nan|diverges?) | nans
  | (?:loss(?:es)?|gradients?|results?|weights|values|outputs?)\s(?:\w+\s){0,2}(?:differs?|different|mismatch\w*)
"""
_SLOW = r"""
    slow(?:er|ly|down|s)? | (?:poor|low)\s(?:performance|bandwidth|scaling|throughput|busbw)
  | (?:bandwidth|throughput|performance|speed|busbw|scaling)\s(?:\w+\s){0,4}
    (?:low|lower|below|drops?|dropped|bad|poor|worse|half|degrad\w*|less)
  | takes?\s(?:\w+\s){0,3}(?:longer|(?:\d+\s?)?(?:minutes|mins?|hours|hrs?)|ages)
  | only\s(?:gets?|getting|got|reach\w*|achiev\w*|sees?|seeing|at)\s(?:\w+\s){0,2}\d
  | expect\w*\s(?:\w+\s){0,3}\d[\d.]*\s?[GMT]i?(?:B/s|bps|b/s|Bps)
"""
_UNUSED = rf"""
    {_NOT}(?:us(?:e|ed|ing)|pick(?:ed)?|choos\w*|chosen|detect(?:ed)?|find|found|see|recogni[sz]\w*|enabl\w*)
  | (?:falls?|fell|falling)\sback | instead\sof\s(?:\w+\s)?(?:ib|infiniband|rdma|roce|efa|nvlink|gdr|p2p)
"""
_FAILS = rf"""
    fail(?:s|ed|ing|ure|ures)? | crash(?:es|ed|ing)? | abort(?:s|ed|ing)? | errors? | dies | died | killed
  | broken | breaks?
  | exceptions? | segfaults? | core\sdump\w* | unable\sto | cannot | can't | out\sof\smemory | oom | panic\w*
  | throws? | raises? | dead | never\s(?:joins?|connects?|appears?|shows?\sup)
  | {_NOT}(?:work(?:s|ed|ing)?|start(?:s|ed)?|run(?:s|ning)?|connect(?:ed)?|launch\w*|initiali[sz]\w*)
  | (?:doesn|don|didn|isn|aren|wasn|won|couldn)'?t\s(?:\w+\s){{0,2}}(?:work|start|run|connect|launch|initiali[sz]e)
"""
_GROWS = r"""
    (?:memory|ram|vram|rss)\s(?:\w+\s){0,3}(?:grow(?:s|ing)?|increas(?:es|ing)|climb(?:s|ing)?|leak(?:s|ed|ing)?)
  | (?:memory\s)leaks?
"""
_WORDS = {
    "memory-grows": _GROWS,
    "hangs": _HANGS,
    "wrong-results": _WRONG,
    "slow": _SLOW,
    "not-used": _UNUSED,
    "fails": _FAILS,
}


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The complaints that are looked for."""
    return tuple(
        (what, re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE | re.VERBOSE)) for what, pattern in _WORDS.items()
    )


def find(text: str) -> str | None:
    """What kind of trouble a sentence complains of; None for none."""
    text = text[:_LOOKED_AT].replace("\u2019", "'")
    for what, pattern in _patterns():
        if is_said(pattern, text):
            return what
    return _languages.complaint(text)


def is_sentence(line: str, text: str) -> bool:
    """May a person have written the line, whose text without prefixes this is?"""
    if len(text) < len(line.strip()):
        return False
    return is_prose(text) or (is_curt(text) and _CURT.search(text) is not None)


class Complaints:
    """Gathers the complaints of a section; they count when somebody speaks in it, be it in another sentence.

    In the few lines of a ticket a whole sentence about what hangs or is slow counts without that.
    """

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self._section = section
        self._found: list[Observation] = []
        self._voiced = False
        self._sentences = 0

    def see(self, index: int, line: str, text: str) -> bool:
        """Take a line that no program is known to print, and its text without prefixes; tell whether it complains."""
        if self._sentences > _WRITTEN or not is_sentence(line, text):
            return False
        self._sentences += 1
        self._voiced = self._voiced or is_voiced(text)
        what = find(text) if troubles.is_claimed(text[:_LOOKED_AT].replace("\u2019", "'")) else None
        if what is not None:
            fields: dict[str, Any] = troubles.described(what, text[:_LOOKED_AT].replace("\u2019", "'"))
            self._found.append(observe(self._section, index, "Complaint", text=text[:_KEPT], **fields))
        return what is not None

    def observations(self) -> list[Observation]:
        """The complaints, if a person speaks."""
        if self._sentences > _WRITTEN:
            return []
        if self._voiced:
            return self._found
        short = len(self._section.lines) + self._section.left_out <= _TICKET
        return [found for found in self._found if short and (found.fields["what"] in _SURE or _is_plain(found))]


def _is_plain(found: Observation) -> bool:
    return _PLAIN.search(str(found.fields["text"]).replace("\u2019", "'")) is not None
