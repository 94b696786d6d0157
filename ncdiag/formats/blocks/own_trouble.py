"""Does somebody report a trouble of their own: a complaint in the first person, a question, a form for bugs?

Documents, changelogs and chats about the past name the same messages, and nobody there has a trouble now.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.over import fails_elsewhere, is_of_another_time, is_over, sentences
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.line_kinds import is_item, is_printed, is_sentence, is_title, kind_of, without_quotations
from ncdiag.language.speech import roles

_LONGEST, _REMEMBERED = 2000, 1 << 15
"""Maximum number of characters checked in a line; maximum number of lines in the cache."""
_I = lazy_regex(r"\b(?:I(?!/)|I'm|I've|I'd)(?=[\s,.'])")
_MY = lazy_regex(r"\b(?:my|mine|me)(?=[\s,?])", re.IGNORECASE)
_WE = guarded_regex(
    r"\b(?:we|we're|we've|our|us)\s(?:[\w'-]+\s){0,5}?(?:see|saw|seen|seeing|get|got|getting|ran|running|tried|trying"
    r"|observe\w*|notice\w*|encounter\w*|found|face|facing|experienc\w*|hit|errors?|fail\w*|hang\w*|hung"
    r"|stuck|crash\w*"
    r"|slow\w*|cannot|can't|unable|issues?|problems?)\b",
    re.IGNORECASE,
)
_ELLIPTIC = guarded_regex(
    r"\bour\s(?:\w+\s){0,2}(?:clusters?|nodes?|setups?|environments?|servers?|jobs?|training|code|systems?"
    r"|machines?|gpus?|runs?|hosts?)\b"
    r"|^\W*(?:when|while|after)\s(?:trying|attempting)\b|^\W*(?:(?:started|keeps?|kept|just)\s)?getting\b"
    r"|^\W*(?:it|this|training|the\s(?:job|training|program|script|run))\s(?:will\s|always\s|then\s|just\s"
    r"|sometimes\s)?(?:fails?|failed|hangs?|hung"
    r"|crashes|crashed|freezes|froze|dies|died|gets\sstuck|got\sstuck)\b|^\W*this\sresults\sin\b|\bsome\sruns\b"
    r"|\b(?:hangs?|fails?|crashes|freezes|stalls|wedges|dies)\s(?:after|at|during|once|with)\s(?:~"
    r"|about\s)?(?:\d|an?\s(?:nccl|cuda)\b|nccl\b)|^\W*error\sreceived\b"
    r"|\blast\slog\sline\sis\b|\blogs?\s(?:is|are)\s(?:as\sfollows|below|here)\b|\bthe\ssymptom\sis\b"
    r"|^\W*issues?\swith\b"
    r"|^(?![^.]{0,80}\b(?:if|when|whenever|should|may|might|can|could|would|will|means?)\b)[^.]{0,80}"
    r"\bfollowing\s(?:\w+\s){0,2}errors?\b",
    re.IGNORECASE,
)
"""Reports of people who leave themselves out."""
_IN_CHINESE = guarded_regex(
    r"\u6211(?!\u4eec)[^\u3002]{0,30}(?:\u62a5\u9519|\u5931\u8d25|\u5361|\u95ee\u9898|\u9519\u8bef"
    r"|\u4e0d[\u4e86\u80fd]|\u65e0\u6cd5|\u9047\u5230)"
    r"|\u8bf7\u95ee|\u53cd\u9988|\u62a5\u8fd9\u4e2a\u9519|\u8bad\u7ec3\u62a5\u9519|\u62a5\u9519\W*$"
    r"|\u6c42\u52a9|\u6c42\u89e3(?:\u7b54|[!\uff01]?$)|\u600e\u4e48(?:\u56de\u4e8b|\u529e|\u89e3\u51b3|\u5904\u7406|\u6392\u67e5)"
    # the error is as follows, has the following message, appears; this error (how, why); but ... errors
    r"|(?:\u62a5\u9519|\u9519\u8bef|\u95ee\u9898)(?:\u4fe1\u606f|\u65e5\u5fd7|\u5185\u5bb9|\u63cf\u8ff0)?(?:\u5982\u4e0b|\u662f\u8fd9\u6837)"
    r"|\u5982\u4e0b(?:\u7684)?(?:\u62a5\u9519|\u9519\u8bef)|(?:\u51fa\u73b0|\u9047\u5230|\u78b0\u5230)\u4e86?(?:\u8fd9\u4e2a|\u4ee5\u4e0b|\u5982\u4e0b)(?:\u7684)?(?:\u9519\u8bef|\u62a5\u9519|\u95ee\u9898)"
    r"|(?:\u8fd9\u4e2a|\u6b64)(?:\u62a5\u9519|\u9519\u8bef|\u95ee\u9898)(?:\u5982\u4f55|\u5e94\u8be5|\u8be5|\u662f\u4ec0\u4e48|\u662f\u4e3a)"
    r"|\u4f46(?:\u662f)?[^\u3002\uff1b]{0,30}(?:\u62a5\u9519|\u5931\u8d25|\u5361\u4f4f|\u5361\u6b7b)|\u6709(?:\u51e0|\u4e00)?\u4e2a\u7591\u95ee",
)
"""The same in Chinese."""
_ONE_IN_CHINESE = lazy_regex(
    r"\u6211(?!\u4eec)|\u8bf7\u95ee|\u6c42\u52a9|\u600e\u4e48(?:\u56de\u4e8b|\u529e|\u89e3\u51b3|\u5904\u7406|\u6392\u67e5)"
)
"""Words of one person, or by which people ask for help, in Chinese."""
_HELP = guarded_regex(
    r"\b(?:any(?:one|body)\s(?:has|have|had|knows?|seen|else|encounter\w*|who|help|experienc\w*|got|met)"
    r"|any\s(?:ideas?|help|suggestions?|advice|hints?|clues?|pointers?|thoughts)|please\shelp|help\sme"
    r"|(?:some|any)(?:one|body)[\s,]{1,2}(?:please|look|help)|please[\s,]{1,2}(?:some|any)(?:one|body)"
    r"|please\s(?:have|take)\sa\slook|(?:can|could)\s(?:some|any)(?:one|body)"
    r"|thanks\sin\sadvance|thank\syou\sin\sadvance|how\s(?:can|do|should)\s(?:i|we)|how\sto\s(?:fix|solve"
    r"|debug)\b.*\?|is\sthis\s(?:a|the|expected"
    r"|normal)|is\sit\s(?:a\sbug|normal|expected|possible)|not\ssure|no\sidea)\b",
    re.IGNORECASE,
)
_STILL = guarded_regex(r"\bstill\s(?:happens?|fails?|hangs?|get|getting|see|seeing|the\ssame)\b", re.IGNORECASE)
_QUESTION = lazy_regex(
    r"(?:(?:^|[.,;:]\s|\b(?:and|but|so)\s)(?:why|how|what|where|which|anyone|is|are|does|do"
    r"|did(?!\syou\smean)|can|could"
    r"|should)\b.*|.*(?:\u4e3a\u4ec0\u4e48|\u5417|\u600e\u4e48).*)[?\uff1f]\s*$",
    re.IGNORECASE,
)
_SIGNED = lazy_regex(r"(?<=[?\uff1f])\s+(?:--?|\u2013|\u2014)\s?[^\W\d][\w .]{0,40}$")
"""The name below a question, in the same line."""
_OFFER = guarded_regex(
    r"\b(?:(?:would\syou\slike|want)\sme\sto|let\sme\sknow\s(?:if|which|what|whether)\syou(?:'d|\swould)?\s(?:like|want|prefer)"
    r"|i(?:'d|\swould|'ll)?\s(?:also\s)?be\s(?:happy|glad)\sto|i\scan\s(?:also\s)?(?:help|walk|show|give)\syou"
    r"|(?:soll|kann)\sich\s(?:dir|ihnen|euch)|(?:souhaitez|voulez)-vous\sque\sje|quieres\sque\ste)\b"
    r"|(?:\u9700\u8981|\u8981)\u6211(?:\u5e2e|\u7ee7\u7eed|\u7ed9)|\u6211\u53ef\u4ee5(?:\u5e2e\u4f60|\u5e2e\u60a8|\u7ee7\u7eed)",
    re.IGNORECASE,
)
"""What somebody who answers offers, such as a chat program at the end of its answer."""
_ASKING_TITLE = lazy_regex(r"#{1,6} .*[?\uff1f]\s*$")
_NUMBERED = lazy_regex(r"#|\d{1,2}(?:[.)\u3001]\s*|(?:\.\d{1,2}){1,3}[.)]?\s+)[^\d\s]")
"""The begin of a heading, or of an item with a number, such as ``2.`` or ``2.1``."""
_FORM = lazy_regex(
    r"\W*(?:\d+[.)]\s*)?(?:describe the (?:bug|issue|problem)|bug(?: description| report)?"
    r"|(?:quick )?(?:issue or feature|issue|bug) description|quick debug information|information to attach.{0,30}"
    r"|problem description|background information|details of the problem|(?:issue|bug) type"
    r"|what version of .{2,40} are you using.{0,60}|describe how .{2,40} (?:was|were|is) (?:installed|built).{0,60}"
    r"|(?:please )?describe the system on which you are running|setup and versions|versions / dependencies"
    r"|(?:steps to |how to )?repro(?:duce|duction)?(?: (?:steps|script|code|it|(?:the|this) \w{2,12}))?"
    r"(?: \(as minimally and precisely as possible\))?"
    r"|to reproduce|how to reproduce.{0,30}|standalone code to reproduce the issue|minimal example to reproduce.{0,20}"
    r"|(?:expected|actual|current|observed)"
    r" (?:behaviou?r|results?)|what happened(?: \+ what you expected to happen)?"
    r"|what (?:did )?(?:you|i) (?:do|expect|try|tried|expected to happen)|anything else we need to know|issue severity"
    r"|your (?:question|current environment|environment)|error messages and logs|stack trace/logs|ds_report output"
    r"|launcher context|docker context|(?:environment|system info) \(please complete the following information\)"
    r"|system info \(.{4,60}\)|who can help|problem statement|error received|relevant log output"
    r"|\u95ee\u9898\u63cf\u8ff0|\u9519\u8bef\u4fe1\u606f|\u590d\u73b0\u6b65\u9aa4|\u91cd\u73b0\u6b65\u9aa4)\W{0,20}$"
    r"|.{0,40}\[(?:bug|issue|question|help)\]|.{0,8}\U0001f41b",
    re.IGNORECASE,
)
"""A heading of the forms that projects have for bugs and questions, or their mark in a title."""
_WEAK_FORM = lazy_regex(
    r"\W*(?:\d+[.)]\s*)?(?:system info(?:rmation)?|environment(?: info(?:rmation)?)?|question|issue type"
    r"|(?:issue )?summary|evidence|impact|symptoms?"
    r"|affected area|(?:proposed|suggested|possible) (?:fix|solution)|error (?:messages?|logs?)"
    r"|additional (?:context|information)"
    r"|\u73af\u5883\u4fe1\u606f)\b[^a-z]{0,20}$"
    r"|[\s*-]*(?:os|operating system|platform|python|pytorch|torch|tensorflow|cuda|nccl|driver|gpus?"
    r"|transformers|deepspeed|vllm|accelerate"
    r"|mofed|mlnx_ofed|ofed|kernel|kubernetes|image|nic|env|network operator"
    r"|opensm)\b[^:=\n]{0,30}[:=\uff1a]+.{0,8}\s?\S",
    re.IGNORECASE,
)
"""Headings that a document may have as well, and items of a list of versions: two of them are a report."""
_WEAK = 2
_NOW = guarded_regex(
    r"\b(?:still|again|now|today|since\s(?:yesterday|today|this\s\w+|monday|then)|every\stime|always"
    r"|keeps?)\b(?:[^.!?;]|\.(?=\S))*\b(?:error\w*|fail\w*|hang\w*|hung|stuck"
    r"|crash\w*|dies|died|aborts?|slow|times?\sout|stops?|happens?|broken|dead)\b",
    re.IGNORECASE,
)
_ELSE = lazy_regex(r"\b(?:no|not|without|never|nothing|(?:other|some)?\s?people|others|forum)\b|n't\b", re.IGNORECASE)
"""Words by which it does not go wrong, or not here."""
_REPORTS, _PRESENT = (_MY, _WE, _ELLIPTIC, _STILL), (_HELP, _NOW)
"""Patterns of reports, and others of what goes wrong now (`is_present`)."""


def is_mended(text: str) -> bool:
    """True if the line is about a trouble of another time, and says that it is over."""
    if not is_of_another_time(text):
        return False
    bare = without_quotations(text)
    return is_over(bare) and not is_present(bare)


def is_present(text: str) -> bool:
    """True if the line says that something goes wrong now, or asks for help."""
    text = without_quotations(text)
    is_now = _NOW.search(text) is not None or _STILL.search(text) is not None
    return _HELP.search(text) is not None or (is_now and _ELSE.search(text) is None) or _is_present_elsewhere(text)


def _is_present_elsewhere(text: str) -> bool:
    """The same in other languages."""
    return "help" in roles(text) or (fails_elsewhere(text) and "now" in roles(text))


def is_own(text: str) -> bool:
    """True if one person says that something goes wrong now, for them."""
    bare = _plain(text)
    return is_present(bare) and _is_of_one(bare) and not is_over(bare)


def is_personal(text: str) -> bool:
    """True if the line asks, or one person reports a trouble; those who run a system say "we"."""
    bare = _plain(text)
    return is_of_one_person(text) or (not is_over(bare) and (_asks(bare) or _IN_CHINESE.search(bare) is not None))


def is_of_one_person(text: str) -> bool:
    """True if one person reports a trouble, or asks for help; a question alone is none, as in an exam."""
    bare = _plain(text)
    return not is_over(bare) and (is_present(bare) or _is_of_one(bare) or _ONE_IN_CHINESE.search(bare) is not None)


def _is_of_one(text: str) -> bool:
    return any(form.search(text) for form in (_I, _MY)) or "one" in roles(text)


def is_reported_by_several(text: str) -> bool:
    """True if those who run a job or a system say what went wrong in it."""
    bare = _plain(text)
    return _WE.search(bare) is not None and not is_over(bare)


def is_of_somebody(text: str) -> bool:
    """True if the line says something of its writer: what one person or several have, see or ask."""
    return is_sentence(text) and (is_of_one_person(text) or is_reported_by_several(text) or "own" in roles(text))


def ends_with_question(lines: Sequence[str]) -> bool:
    """True if the last line of a text asks something."""
    return _asks(_plain(next((line for line in reversed(lines) if line.strip()), "")))


def _plain(text: str) -> str:
    return _without_offers(without_quotations(text.strip().replace("\u2019", "'")))


def _without_offers(text: str) -> str:
    if _OFFER.search(text) is None:
        return text
    return " ".join(each for each in sentences(text) if _OFFER.search(each) is None)


def is_form(text: str) -> bool:
    """True for a heading of a form for bugs and questions, which no document has."""
    return _is_form(text.strip())


@functools.lru_cache(_REMEMBERED)
def _is_form(text: str) -> bool:
    return _FORM.match(text) is not None


def is_reported(lines: Iterable[str]) -> bool:
    """True if one of the lines reports a trouble of its writer, or asks about it; in a form for bugs, two headings."""
    texts = (line[:_LONGEST].strip().replace("\u2019", "'") for line in lines)
    written = [_uncommented(text) for text in texts if text and not is_printed(text)]
    if any(map(is_form, written)) or sum(_WEAK_FORM.match(text) is not None for text in written) >= _WEAK:
        return True
    bare = [_without_offers(without_quotations(text)) for text in written]
    return any(kind_of(text) not in {"command", "code"} and _reports(text) for text in bare)


def _uncommented(text: str) -> str:
    """The sentence behind the mark of a comment in LaTeX, which is the prompt of some shells as well."""
    return text[2:] if text[:2] == "% " and is_sentence(text[2:]) else text


@functools.lru_cache(_REMEMBERED)
def _reports(text: str) -> bool:
    """True if the text reports or asks."""
    return (
        any(form.search(text) for form in _REPORTS)
        or (any(form.search(text) for form in _PRESENT) and is_present(text))
        or ("I" in text and _I.search(text) is not None)
        or (not text.isascii() and _IN_CHINESE.search(text) is not None)
        or _reports_elsewhere(text)
        or _asks(text)
    ) and not (is_over(text) or _ASKING_TITLE.match(text))


def _reports_elsewhere(text: str) -> bool:
    """True if the line reports a trouble or asks for help in another language.

    Headings, instructions and sentences about the past only name a failure.
    """
    said = roles(text)
    if not said:
        return False
    names = _NUMBERED.match(text) is not None or is_title(text) or not said.isdisjoint({"past", "outcome", "instructs"})
    return "own" in said or "help" in said or (fails_elsewhere(text) and not names)


def _asks(text: str) -> bool:
    if "?" not in text and "\uff1f" not in text:
        return False
    text = _SIGNED.sub("", text)
    if not text.rstrip().endswith(("?", "\uff1f")):
        return False
    return _QUESTION.search(text) is not None and not (_NUMBERED.match(text) or is_item(text))
