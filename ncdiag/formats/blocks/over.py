"""Words about a trouble of another time, and about one that is over.

English, German and Chinese here, of which one word is enough; in other languages, and in longer German lines, by the
tables of `ncdiag.language.speech`.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.language.speech import roles, roles_in

ENDED = (
    r"(?:closed|resolved|fixed|solved|geschlossen|gel\u00f6st|erledigt|behoben"
    r"|\u5df2(?:\u5173\u95ed|\u89e3\u51b3|\u4fee\u590d))"
)
"""The state of a ticket that is closed."""
_DONE = guarded_regex(
    r"\b(?:(?:is|was|were|been|are)\s(?:\w+\s)?(?:fixed|solved|resolved|closed|replaced|repaired|understood"
    r"|explained|plugged)"
    r"|(?:fixed|solved|resolved)\s(?:by|on|with|it)|confirmed\sthat\sit\sworks|solved|resolved|closed|fixed"
    r"|post-?mortem(?!\s(?:request|question|help|needed|wanted|please))|we\sraised"
    r"|(?:not|n't|never)\s(?:\w+\s)?(?:come|came)\sback|no\smore\sof\sit|all\sis\s(?:fine|well|good)"
    r"|(?:gone|quiet|fine|clean|stable)\s(?:ever\s)?since|in\sthe\smeantime"
    r"|(?:runs?|running|ran)\s(?:\w+\s)?(?:fine|since|well|without)|all\sgreen"
    r"|behoben|gel\u00f6st|erledigt|wiederhergestellt|l\u00e4uft\swieder|wieder\sin\sbetrieb|nicht\smehr\saufgetreten)\b"
    r"|\u89e3\u51b3\u4e86|\u4fee\u597d|\u5df2(?:\u7ecf)?(?:\u4fee\u590d|\u89e3\u51b3|\u6062\u590d)"
    r"|\u4e00\u76f4\u6b63\u5e38|\u6ca1\u6709?(?:\u518d|\u95ee\u9898)|\u65e0\u590d\u73b0|\u6062\u590d\u6b63\u5e38",
    re.IGNORECASE,
)
"""Words about a trouble that is over, wherever they are."""
_OUTCOME = guarded_regex(
    r"\b(?:swapped|replaced|reseated|repaired|corrected|cleaned|raised|rolled\sback|confirmed|merged|installed|gone|quiet|clean|passed"
    r"|(?:back|is)\sin\s(?:\w+\s)?(?:service|production)|(?:has|have)\sbeen\s(?:lifted|requeued|restored)|closing|done"
    r"|(?:ran|runs|went)\sthrough|that\swas\sit|no\serrors|(?:is|are)\sback"
    r"|(?:aus)?getauscht|ersetzt|gewechselt|repariert|korrigiert|angehoben|erneuert|erh\u00f6ht|erg\u00e4nzt|best\u00e4tigt|ohne\s(?:befund|auff\u00e4lligkeiten)|fehlerfrei)\b"
    r"|(?:\u66f4\u6362|\u4fee\u590d|\u6062\u590d|\u5904\u7406|\u91cd\u8dd1|\u9a8c\u8bc1|\u538b\u6d4b|\u8fd0\u884c)[^\u3002]{0,12}"
    r"(?:\u6b63\u5e38|\u901a\u8fc7|\u4e0a\u7ebf|\u5b8c\u6210|\u5173\u95ed|\u6062\u590d|\u5f52\u8fd8)|\u73b0\u5df2|\u5df2[^\u3002]{0,6}(?:\u5173\u95ed|\u5f52\u8fd8|\u4e0a\u7ebf|\u6392\u961f)",
    re.IGNORECASE,
)
"""Words about how it ended, where the text has the form of a report on what was done."""
_PAST = guarded_regex(
    r"\b(?:last\s(?:week(?:end)?|month|year|night|time|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|fall|winter)(?:'s)?|(?<!since\s)yesterday(?:'s)?"
    r"|week\sbefore|back\sthen|since\sthen|remember|(?:years?|months?)\sago"
    r"|back\sin\s(?:the\s(?:\w+\s)?days|\d{4})|in\smy\s(?:old|last|previous)\s\w+"
    r"|in\sthe\send|(?<!seit\s)(?:vor)?gestern|(?:letzte|vorige|vergangene)[nrs]?\s(?:woche|nacht|monat|\w+tag)"
    r"|hier\s(?:soir|matin)|la\ssemaine\sderni\u00e8re)\b|\u4e0a(?:\u4e2a?\u6708|\u5468)|\u6628\u5929|\u4e4b\u524d|\u5f53\u65f6",
    re.IGNORECASE,
)
_LASTING = guarded_regex(
    r"\b(?:last\snight|since\sthen|remember|in\sthe\send|hangs|freezes|stalls|sits|waits|gets\sstuck|has\sbeen|have\sbeen"
    r"|is|are|keeps?|does|do)\b",
    re.IGNORECASE,
)
"""Words that say that a trouble may last: since when it does, or a verb in the present."""
_NOT_AGAIN = guarded_regex(
    r"\b(?:not|never|haven't|hasn't)\s(?:been\s)?(?:see|seen|happened?|occurred|failed|appeared|come|hung)\b[^.;,]{0,20}\b"
    r"(?:again|since)\b|\b(?:seen?|saw|had|observed?)\sno\s(?:\w+\s){1,4}(?:since|again)\b"
    r"|\b(?:nobody|no\sone|none\sof\sus)\s(?:has\s|had\s|saw\s|seen\s|met\s|got\s|hit\s){1,2}[^.;,]{0,20}\b(?:again|since)\b"
    r"|\bno\slonger\s(?:seen?|happens?|occurs?|fails?|appears?|hangs?)\b",
    re.IGNORECASE,
)
_YET = guarded_regex(
    r"\b(?:but|however|still|again|yet|although|though|except|unless|only|not\s(?:fixed|solved|resolved)"
    r"|(?:is|was|does|did)n't|does\snot"
    r"|aber|jedoch|noch|weiterhin|trotzdem|dennoch|obwohl|erneut)\b"
    r"|\u4f46|\u4ecd|\u8fd8\u662f|\u4f9d\u7136|\u4f9d\u65e7|\u53c8|\u518d\u6b21|\u672a(?:\u89e3\u51b3|\u6062\u590d|\u4fee\u590d)"
    r"|\u5f85[^\u3002]{0,6}(?:\u5904\u7406|\u786e\u8ba4|\u6392\u67e5)"
    r"|[?\uff1f]\s*$",
    re.IGNORECASE,
)
"""Words by which a sentence about what is over goes on about what is not."""
_GOES_ON = guarded_regex(
    r"\b(?:since(?!\sthen)|now|today|open|ongoing|investigat\w+|pending|down|seit|offen)\b|\u76ee\u524d|\u73b0\u5728",
    re.IGNORECASE,
)
"""Words about what is so now."""
_NOW = guarded_regex(
    r"\b(?:now|today|tonight|this\s(?:morning|week|time)|jetzt|heute|diesmal)\b|\u76ee\u524d|\u73b0\u5728|\u4eca\u5929|\u8fd9\u6b21",
    re.IGNORECASE,
)
"""Words of a sentence about the present."""
_FAILS = guarded_regex(
    r"\b(?<!no )(?<!without )(?:errors?|fail\w*|connection|peer|socket|refused|abort\w*|time[sd]? ?out|cannot"
    r"|dies|died)\b|\u62a5\u9519|\u5931\u8d25|\u4e2d\u65ad",
    re.IGNORECASE,
)
"""Words of a sentence that says what went wrong, and not how it ended."""
_LASTS = guarded_regex(
    r"\b(?:has|have)\sbeen\s(?:running|up|stable|quiet|clean|fine|ok(?:ay)?|green|healthy)\s(?:\w+\s)?(?:for|since)\b"
    r"|\bl\u00e4uft\s(?:seit|schon)\b|\u5df2?(?:\u7a33\u5b9a)?\u8fd0\u884c\u4e86",
    re.IGNORECASE,
)
"""Words that say for how long all has been well, unless something goes wrong since."""
_CRASHES = guarded_regex(
    r"\b(?:crash\w*|hangs?|hanging|hung|stuck|stalls?|stalled|freezes|froze|frozen|(?:is|was|were|got|gets)\s(?:\w+\s)?killed"
    r"|segfaults?|deadlocks?)\b",
    re.IGNORECASE,
)
"""Other words by which something goes wrong; a sentence on how it ended may have them as well."""
_SENTENCE_ENDS = lazy_regex(r"(?<=[.!?;])\s+|[\u3002\uff01\uff1f\uff1b]\s*(?=\S)")
_COMMAS = lazy_regex(r"[,;\u3001\uff0c\uff1b]")
_CLAUSE_ENDS = lazy_regex(
    r"(?<=[.!?;:])\s+|[\u3002\uff01\uff1f\uff1b\uff1a\uff0c]\s*(?=\S)|:(?=[\u3400-\u9fff])|\s*(?:\u2192|->|=>|\s\|\s?)\s*"
)
_AFTER = lazy_regex(r"\b(?:after|when|while|until|before|if|nachdem|wenn|bis)\b", re.IGNORECASE)
"""Words that make an outcome the time of something else."""
_LAST = 2
"""Number of sentences at the end of a text that may say how it ended."""


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [each for each in _SENTENCE_ENDS.split(text.strip()) if each.strip()]


def is_over(text: str) -> bool:
    """True if the line says of a trouble that it is over."""
    rest = _without_not_again(text)
    return (rest != text or _is_done(text)) and not is_open(rest)


def is_of_another_time(text: str) -> bool:
    """True if the line names another time."""
    return _PAST.search(text) is not None or "past" in roles(text)


def past_at(text: str) -> int | None:
    """Where a sentence names another day; None if it does not, or says that the trouble lasts."""
    found = _PAST.search(text)
    if goes_on(text) or _LASTING.search(text) or not (found or "past" in roles(text)):
        return None
    return found.start() if found else 0


def is_past(text: str) -> bool:
    """True if the line is about another time, or about a trouble that is over."""
    return is_of_another_time(text) or _is_done(text)


def is_open(text: str) -> bool:
    """True if the line says that something is not over, or asks."""
    return _YET.search(text) is not None or "yet" in roles(text)


def is_new(text: str) -> bool:
    """True if a sentence of the line says how something is now, and not that it is over."""
    present = [each for each in sentences(text) if _NOW.search(each) or "now" in roles(each)]
    return any(not is_over(each) and not _is_outcome(each) for each in present)


def says_failure(text: str) -> bool:
    """True if the line has a word of a failure."""
    return _FAILS.search(text) is not None or fails_elsewhere(text)


def goes_wrong(text: str) -> bool:
    """True if the line has a word of a failure, of a crash or of a hang."""
    return says_failure(text) or _CRASHES.search(text) is not None


def goes_on(text: str) -> bool:
    """True if the line says that something is not over, or how it is now."""
    return is_open(text) or _GOES_ON.search(text) is not None or "now" in roles(text)


def ends_well(text: str) -> bool:
    """True if one of the last sentences says how a trouble ended, and none of them that it goes on."""
    last = sentences(text)[-_LAST:]
    return not any(map(is_open, last)) and any(map(_is_outcome, last))


def has_outcome(text: str) -> bool:
    """True if a text names something and ends with a clause that says how it ended."""
    _, *others = (each for each in _CLAUSE_ENDS.split(text.strip()) if each.strip())
    return bool(others) and _is_outcome(others[-1]) and not is_open(text) and _AFTER.search(others[-1]) is None


def is_over_now(text: str) -> bool:
    """True if a sentence of the text says that a trouble is over, and none goes on about it."""
    whole = sentences(text)
    rest = list(map(_without_not_again, whole))
    is_said = any(is_over(each) and not says_failure(bare) for each, bare in zip(whole, rest, strict=True))
    return is_said and not any(map(is_open, rest))


def fails_elsewhere(text: str) -> bool:
    """True if the line says in another language that something goes wrong; not that nothing does.

    A negation counts up to the clause that says it, in the same sentence: ``it fails, and nothing was changed``.
    """
    said = roles(text)
    if "fails" not in said or not said.isdisjoint({"done", "outcome"}):
        return False
    return "not" not in said or any(_fails_first(sentence, text) for sentence in sentences(text))


def _fails_first(sentence: str, line: str) -> bool:
    for clause in _COMMAS.split(sentence):
        said = roles_in(clause, line)
        if "not" in said:
            return False
        if "fails" in said:
            return True
    return False


def _is_outcome(text: str) -> bool:
    is_known = any(form.search(text) for form in (_DONE, _OUTCOME)) or not roles(text).isdisjoint({"done", "outcome"})
    lasts = not is_known and _LASTS.search(text) is not None and _CRASHES.search(text) is None
    return (is_known or lasts) and not says_failure(text)


def _without_not_again(text: str) -> str:
    return text if _NOT_AGAIN.search(text) is None else _NOT_AGAIN.sub(" ", text)


def _is_done(text: str) -> bool:
    return _DONE.search(text) is not None or "done" in roles(text)
