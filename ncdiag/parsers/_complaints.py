"""What a person says goes wrong, in a sentence of their own: it hangs, fails, is slow, is wrong, is not used.

Only prose is asked (`ncdiag.parsers._prose`), and only where somebody speaks: programs write sentences as well. Words
that deny (``no longer hangs``) are no complaint.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, observe
from ncdiag.formats.blocks.over import is_open, past_at
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.hints import Hints
from ncdiag.parsers import _languages, _prose
from ncdiag.parsers._languages import SCRIPT
from ncdiag.parsers._prose import NOBODY, is_curt, is_prose, is_said, is_voiced
from ncdiag.parsers.user_text import complained, forms, passed, planes, titles, troubles, verbs
from ncdiag.parsers.user_text.complained import WORDS
from ncdiag.parsers.user_text.moods import segments
from ncdiag.parsers.user_text.paragraphs import Expected, runs_on, sentences

_LOOKED_AT, _KEPT = 1000, 400
_TICKET = 300
"""Lines of output that somebody pastes by hand."""
_STATED = frozenset({"not-used"})
"""What may be said without a complaint: that something is off."""
_MEANT = lazy_regex(
    r"\b(?:although|even\sthough|falls?\sback|(?:is|are)\snot\s(?:being\s)?used|only\sone\sof|ignores)\b|没有?用[上到]|走的?是",
    re.IGNORECASE,
)
"""What shows that it should be otherwise."""
_ASSIGNED = lazy_regex(r"^\s*[A-Z][A-Z0-9_]{3,40}=\S+\s")
_FEW = 2
"""Lines for each sentence up to which a section is what a person wrote, whether or not they mention themselves."""
_WRITTEN = 300
"""Sentences that a person writes in a ticket; what holds more of them is a program's, or a book."""
_AFTER_STEPS = frozenset({"hangs", "crashes", "fails"})
"""Troubles of which a sentence before says how far the job had come."""
_SURE = frozenset({"hangs", "slow", "wrong-results", "memory-grows"})
"""Troubles that programs do not write sentences about."""
_CURT = guarded_regex(
    r"\b(?:hangs?|hanging|hung|stuck|freezes|frozen|slow|slower|does(?:n't|\snot)\swork|not\sworking)\b", re.IGNORECASE
)
"""What few words complain of."""
_BRIEF = lazy_regex(
    r"\W{0,3}(?:(?:it|everything|all|this|that|nccl|rccl|the|my|our|training|jobs?|runs?|program|script|process(?:es)?"
    r"|ranks?|nodes?|gpus?|still|just|always|now|is|are|it's|gets|got|so|very|too|really|again|help)[,:]?\s){0,4}"
    r"(?:hangs?|hanging|hung|stuck|freez(?:es?|ing)|froze|frozen|stall(?:s|ed|ing)|deadlock(?:s|ed)?|slow|slower"
    r"|crawls|no\sprogress|nothing\shappens)(?:\s(?:again|now|forever|there|here|completely))?\W{0,4}",
    re.IGNORECASE,
)
"""A sentence of the fewest words about what hangs or is slow, as people put it above a log."""
_TITLE, _SIGNS = 60, 8
"""Maximum length of such a sentence, and of one in a script other than Latin."""
_PLAIN = guarded_regex(
    r"\b(?:do|does|did|is|are)(?:\snot|n't)\s(?:\w+\s){0,2}work(?:ing)?\b|\beach\sother\b"
    r"|\bwork(?:s|ed|ing)?\s(?:\w+\s){0,3}(?:on|with|in)\s(?:\w+\s)?single\b"
    r"|\bsingle[- ]\w+\s(?:\w+\s)?(?:works|is\sfine)\b"
    r"|\b(?:looks?|seems?|appears?)\s(?:like|to\s(?:be|use))\s(?:\w+\s){0,2}(?:tcp|sockets?|ethernet)\b",
    re.IGNORECASE,
)
"""Nor do they write so of what does not work."""
_LONGEST_SENTENCE = 600
"""Characters of a sentence over several lines, from which on the next line begins another."""
_TODAY = lazy_regex(r"(\bnow\b|\btoday\b|\bjetzt\b|\bheute\b|\u73b0\u5728|\u4eca\u5929)", re.IGNORECASE)
"""Where a sentence begins to speak of now."""
_FIRST = 8
"""Characters before the day with which a sentence begins: ``Already``."""
_STATUS = lazy_regex(r"[:=]\s?(?:FAIL(?:ED)?|ERROR)\b")
"""What a tool says of itself, where somebody reports it."""
_STATES = frozenset({"wrong-results", "slow", "memory-grows"})
_IS_NOT = guarded_regex(
    r"\b(?:loss|gradients?|results?|weights|values|outputs?|bandwidth|throughput|performance|speed|memory)\s(?:\w+\s)?"
    r"(?:(?:is|are|was|were|does|do)(?:n't|\snot)|never)\b"
    r"(?!\s(?:\w+\s){0,2}(?:freed|free|released?|returned|reclaimed|given\sback)\b)"
    r"(?!\s(?:(?:as|what|like)\s(?:\w+\s){0,2}expect|(?:\w+\s)?meet\s))",
    re.IGNORECASE,
)
"""A thing that is denied to be as troubles have it: ``the loss is not nan``, but not ``memory is not freed``."""


_FLAGS = re.IGNORECASE | re.VERBOSE
HINTS = Hints(
    "words-of-complaints",
    (complained.__file__, _prose.__file__, verbs.__file__),
    lambda: [(verbs.in_all_tenses(pattern), _FLAGS) for pattern in WORDS.values()],
)
"""The complaints that a sentence may have."""


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The complaints that are looked for."""
    return tuple(
        (what, lazy_regex(rf"\b(?:{verbs.in_all_tenses(pattern)})(?!\w)", _FLAGS)) for what, pattern in WORDS.items()
    )


def find(text: str) -> str | None:
    """What kind of trouble a sentence complains of; None for none."""
    text = NOBODY.sub("", _STATUS.sub("", text[:_LOOKED_AT].replace("\u2019", "'")))
    if SCRIPT.search(text) and (told := _languages.complaint(text)) is not None:
        return told
    for what, pattern in map(_patterns().__getitem__, HINTS.of(text)):
        if is_said(pattern, text) and not (what in _STATES and _IS_NOT.search(text)):
            return what
    return _languages.complaint(text)


def is_sentence(line: str, text: str) -> bool:
    """May a person have written the line, whose text without prefixes this is?"""
    if len(text) < len(line.strip()):
        return False
    return (
        is_prose(_ASSIGNED.sub("it ", text, count=1))
        or (is_curt(text) and (_CURT.search(text) is not None or any(forms.read(text))))
        or _is_brief(text.strip())
    )


def _is_brief(text: str) -> bool:
    """True if the text says only that something hangs or is slow."""
    if len(text) <= _SIGNS and SCRIPT.match(text):
        return _languages.complaint(text) in _SURE
    is_more = " " in text or not text.isalpha()  # one word alone may be anything: a cell, a state
    return is_more and len(text) <= _TITLE and _BRIEF.fullmatch(text.replace("\u2019", "'")) is not None


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
        self._title: list[Observation] = []
        self._expected = Expected()
        self._open: _Open | None = None
        self._before = ""
        self._states: list[Observation] = []

    def see(self, index: int, line: str, text: str) -> bool:
        """Take a line that no program is known to print, and its text without prefixes; tell whether it complains."""
        if not self._section.spoken:
            return False
        said = self._said(index, line, text)
        if self._section.number(index) <= titles.LAST and (title := titles.title_of(line.strip()[:_LOOKED_AT])):
            told = self._of_sentence(index, title)
            self._title = [found for found in told if titles.is_claim(str(found.fields["what"]), title)]
            said = said or bool(self._title)
        return said

    def _said(self, index: int, line: str, text: str) -> bool:
        """Take the line as sentences of a person."""
        if self._expected.holds(text[:_LOOKED_AT]) or self._sentences > _WRITTEN or len(text) < len(line.strip()):
            return False
        text = text[:_LOOKED_AT]
        before, self._open = self._open, None
        if before and (
            before.index != index - 1 or len(before.sentence) > _LONGEST_SENTENCE or not runs_on(before.line, text)
        ):
            before = None
        if before is None and not is_sentence(line, text):
            return False
        self._sentences += 1
        self._voiced = self._voiced or is_voiced(text)
        parts = [sentence for _, sentence in sentences(text)] or [text]
        if before is not None:
            parts[0] = f"{before.sentence} {parts[0]}"
            del self._found[before.found :]
        begun = len(self._found)
        for part in parts:
            self._open = _Open(index, text, part, len(self._found))
            told = self._of_sentence(index, part)
            if told and (passed.in_one(part) or passed.goes_on(self._before, part)):
                told, self._found = _later(told), _later(self._found)
                self._states.append(self._state(index, part))
            self._found += told
            self._before = part
        return len(self._found) > begun

    def _state(self, index: int, sentence: str) -> Observation:
        """That the job had made steps before it went wrong."""
        text = f"{self._before} {sentence}"[:_KEPT]
        return observe(self._section, index, "Context", kind="state", value=passed.HAD_RUN, text=text)

    def _of_sentence(self, index: int, sentence: str) -> list[Observation]:
        """The complaints of a sentence, each of its parts for itself, and each kind of trouble once."""
        sentence = troubles.claimed(sentence)
        said = planes.without_loss(sentence)
        told = [(what, part) for _, part in segments(said) if (what := find(part)) is not None]
        if not told and (what := find(said)) is not None:
            told = [(what, said)]
        fields = _with_forms([troubles.described(what, part) for what, part in told], said)
        first = {(each["what"], each.get("form")): each for each in reversed(fields)}
        past: dict[str, Any] = {"is_past": True} if fields and _is_past(sentence) else {}
        return [
            observe(self._section, index, "Complaint", text=sentence[:_KEPT], **each, **past)
            for each in reversed(first.values())
        ]

    def observations(self) -> list[Observation]:
        """The complaints, if a person speaks; that of the title first."""
        told = self._told()
        states = self._states if told else []
        own = {found.span for found in told}
        titled = [found for found in self._title if found.span not in own]
        return [*titled, *told, *states] if titled and self._is_ticket() else [*told, *states]

    def _told(self) -> list[Observation]:
        """The complaints of the sentences."""
        if self._sentences > _WRITTEN:
            return []
        lines = sum(bool(line.strip()) for line in self._section.lines)
        if self._voiced:
            return self._found
        if lines + self._section.left_out <= _FEW * self._sentences:
            stated = (each for each in self._found if each.fields["what"] in _STATED and "form" not in each.fields)
            left_out = [found for found in stated if not (_is_meant(found) or _is_plain(found))]
            return [found for found in self._found if found not in left_out]
        plain = [found for found in self._found if found.fields["what"] in _SURE or _is_plain(found) or _is_rare(found)]
        return plain if plain and self._is_ticket() else []

    def _is_ticket(self) -> bool:
        """Is it short but for the code in it? Programs of any length are pasted by hand."""
        beside = len(self._section.lines) + self._section.left_out - _TICKET
        if beside <= 0:
            return True
        from ncdiag.parsers.script.blocks import is_code  # with its patterns, which only a long text needs

        return sum(map(is_code, self._section.lines)) >= beside


def _is_rare(found: Observation) -> bool:
    """True for a form of a trouble that programs write nothing about."""
    return found.fields.get("form") == "gpus-unused"


def _is_past(sentence: str) -> bool:
    """True if a sentence complains about another day, and reports no trouble of today.

    The day is that of the trouble if the sentence begins with it, or names it after the trouble; else it is that of
    something before: ``the job that I started yesterday hung``.
    """
    then, *now = _TODAY.split(sentence, 1)
    at = past_at(then)
    if at is None or not (at <= _FIRST or find(then[:at])):
        return False
    return not (now and (find("".join(now)) or is_open(now[-1])))


def _later(found: list[Observation]) -> list[Observation]:
    """The complaints, those of which no phase is told after the first collectives: the job had run."""
    return [
        each
        if "phase" in each.fields or each.fields["what"] not in _AFTER_STEPS
        else msgspec.structs.replace(each, fields={**each.fields, "phase": "later"})
        for each in found
    ]


def _with_forms(fields: list[dict[str, Any]], sentence: str) -> list[dict[str, Any]]:
    """The complaints of a sentence with the forms that it names; a form of another trouble is a complaint as well."""
    for form in forms.read(sentence):
        same = [each for each in fields if each["what"] in {form.what, *form.of}]
        if free := [each for each in same if "form" not in each]:
            free[0]["form"] = form.name
        else:
            what = same[0]["what"] if same else form.what
            fields.append({**troubles.described(what, sentence), "what": what, "form": form.name})
    return fields


class _Open(msgspec.Struct, frozen=True):
    """The last sentence of a line, which may go on in the next: so many complaints were found before it."""

    index: int
    line: str
    sentence: str
    found: int


def _is_meant(found: Observation) -> bool:
    return _MEANT.search(str(found.fields["text"])) is not None


def _is_plain(found: Observation) -> bool:
    return _PLAIN.search(str(found.fields["text"]).replace("\u2019", "'")) is not None
