"""The host that a trouble follows, as people say it: ``any job that includes st-05 hangs``, ``all but n7 are fine``.

What is said is read with a mark in place of the name. Any word with a digit may be a name here, as well as ``node`` and
a number or a letter: whether it is a host is known where the facts of the whole input are.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import SEGMENTS, stated

_KIND = r"(?:node|host|machine|server|worker|box|pod|vm|instance|cluster|system|site|computer)"
_NAME = lazy_regex(
    rf"\b(?:the\s)?(?P<kind>{_KIND})[\s_#]{{1,2}}(?P<number>\d{{1,4}}|(?-i:[A-Z])|[b-z])(?![\w.-]*\w)"
    rf"|(?<![\w.-])(?:(?:the\s)?{_KIND}\s)?[`'\"*]{{0,2}}(?P<name>(?=[\w.-]{{0,60}}\d)[A-Za-z][A-Za-z0-9._-]{{0,60}}[A-Za-z0-9])[`'\"*]{{0,2}}"
    r"(?![\w/:=(])",
    re.IGNORECASE,
)  # fmt: skip
_MARK, _OTHER = "@", "#"
_MOST = 6
"""Maximum number of names of one sentence that are checked."""
_RUN = r"(?:jobs?|runs?|tests?|pairs?|pairings?|combinations?|allocations?|trainings?|experiments?|benchmarks?)"
_TAKES = (
    r"(?:that\s|which\s)?(?:(?:includ|contain|involv|touch)(?:es|ing|s)?|us(?:es?|ing)|ha(?:s|ve|ving)|with|on|gets?"
    r"|(?:lands?|runs?|scheduled|placed)\son)"
)
_IN_IT = (
    r"(?:(?:is|was|gets?|being)\s)?(?:(?:a\s)?(?:part|member)\b|in\b|among\b|takes\spart|comes?\sin"
    r"|(?:includ|involv|us|join|add|participat|present|allocat|pick|select|assign)(?:e[ds]|s|ed|ing)?\b)"
)
_ALONE = r"(?!\s?(?:,|and|or|&|to|-)\s?#)"
"""No other host is named beside it."""
_WHEN = r"(?:whenever|when|if|as\ssoon\sas|once|(?:every|each)\stime|unless|un?till?)"
_ILL = (
    r"\b(?:hang|stuck|stall|freez|froze|crash|fail|time[sd]?\s?-?out|error|abort|dead|slow|drop|fall|fell|collaps|degrad"
    r"|hal[fv]|worse|bad\b|poor|low|br[eo]ak|broke|die[sd]?\b|(?:does|do|did|ca)n[o']t|cannot|no[tr]\b|never|wrong|nan\b"
    r"|corrupt|unreachable|trouble|problem|issue)"
)
_WELL = (
    r"\b(?:fine|work|ok\b|okay|good|normal|clean|succe|pass|healthy|full\s|expected|fast|no\s|complet|finish|gone|disappear"
    r"|goes\saway|reach|(?:gets?|runs?\sat)\s\d|well\b|stable|recover|back\b)"
)
_JOB = rf"\b(?:any|every|each|all|only)\s(?:the\s)?(?:\w+\s)?{_RUN}\s{_TAKES}\s@{_ALONE}"
_JOINS = rf"\b{_WHEN}\s(?:(?!only|just)[^\s,;]+\s){{0,3}}?@\s{_IN_IT}"
_TAKEN = rf"\b{_WHEN}\s(?:\w+\s){{0,3}}?(?:includ|us|involv|add|contain)(?:e|es|s|ing|ed)?\s@"
_WITHOUT = (
    r"(?:\b(?:without|(?:exclud|remov|drain|skipp|tak|cordon|replac|swapp|dropp?)(?:e|ed|ing)?|left\sout"
    r"|leaving\sout|took\sout|taking\sout)\s|--exclude[=\s]|\s-x\s)@"
)
_ONLY_ON = (
    r"\b(?:happens?|fails?|hangs?|crash(?:es)?|occurs?|reproduc\w+|seen|appears?|slow)\s(?:only|always|exclusively|just)"
    rf"\s(?:on|with|from|at|for|when\s\w+ing)\s@{_ALONE}"
)
_ONLY = (
    r"\b(?:only|always|just)\s(?:(?:happens?|fails?|hangs?|crash\w*|seen|occurs?|appears?|affects?)\s)?"
    rf"(?:(?:on|with|from|at|for)\s)?@{_ALONE}"
)
_FOLLOWS = (
    r"\b(?:follows?|points?\sto|(?:narrowed|isolated|traced|tracked|pinned)\s(?:it\s)?(?:down\s)?to|culprit\sis"
    rf"|(?:limited|tied)\sto)\s(?:always\s|just\s|only\s)?@{_ALONE}"
)
_CULPRIT = (
    r"@\s(?:is|seems|must\sbe)\s(?:to\sbe\s|always\s)?the\s(?:\w+\s)?(?:culprit|(?:only|odd)\sone|bad\s|common\sfactor)"
)
_CHINESE_TAKES = (
    r"(?:只要|一旦|凡是|每次|每当)[^\uff0c,。]{0,10}?(?:有|包含|包括|用到|使用|加入|加上|分配到|跑在|带上)了?\s?@"
)
_CHINESE_EXCEPT = r"除了?\s?@\s?(?:之外|以外|外|,|\uff0c|都|其)"
_CHINESE_WITHOUT = r"(?:去掉|排除|不用|不包含|剔除|换掉|踢掉)了?\s?@"
_BAD = lazy_regex(rf"{_ILL}|卡|挂|失败|报错|慢|超时|下降|崩|掉|不(?:能|行|动|了|工作)", re.IGNORECASE)
_FINE = lazy_regex(rf"{_WELL}|正常|没问题|可以|好的|都行|就好|恢复", re.IGNORECASE)
_WAYS = tuple(
    (lazy_regex(form, re.IGNORECASE), tone)
    for form, tone in (
        (_JOB, _BAD), (_JOINS, _BAD), (_TAKEN, _BAD), (_WITHOUT, _FINE), (_ONLY_ON, None), (_ONLY, _BAD),
        (_FOLLOWS, None), (_CULPRIT, None), (_CHINESE_TAKES, _BAD), (_CHINESE_EXCEPT, _FINE), (_CHINESE_WITHOUT, _FINE),
    )
)  # fmt: skip
"""Ways to say it, and what the rest of the clause must say as well; None where the way says it all."""
_EXCEPT = lazy_regex(
    r"\b(?:except|but|apart\sfrom|other\sthan|besides|save\sfor)\s(?:not\s)?(?:for\s|those\s|the\sones\s|ones\s|pairs\s|with\s"
    rf"|on\s|to\s|from\s|of\s|involving\s){{0,3}}@{_ALONE}",
    re.IGNORECASE,
)
_OTHERS = lazy_regex(r"\b(?:all|every\w*|any\w*|others?|rest|hosts|nodes|machines|servers)\b", re.IGNORECASE)
_CLAUSES = lazy_regex(r"\s*(?:[,;\uff0c\uff1b]|\b(?:but|while|whereas|however|and|yet)\b|但是?|而)\s*", re.IGNORECASE)
_PLACED = lazy_regex(r"\b(?:on|with|from|at|in)\s@")
_NOT_ILL = lazy_regex(
    r"\b(?:(?:do(?:es)?|did|is|are|was|were|ha(?:s|ve|d)|will|would)(?:n't|\snot)|never|no(?:\slonger|\smore)?|without(?:\sany|\sa)?)"
    r"\s(?:\w+ly\s)?(?:hang|stuck|stall|freez|crash|fail|time\s?-?out|timing\sout|errors?\b|abort|dead|slow|problem|issue|trouble)\w*",
    re.IGNORECASE,
)
"""It goes well: ``does not hang``, ``no errors``."""
_DENIED = lazy_regex(
    r"(?:n't|\bnot|\bnever|\bno\slonger)\s(?:\w+\s){0,2}?(?:follows?|points?\sto|tied|limited|the\s(?:\w+\s)?(?:culprit|one|factor))\b"
    r"|\b(?:do(?:es)?|did|is|are)(?:n't|\snot)\s(?:\w+\s)?(?:only|always|exclusively|just)\b|\bnot\s(?:only|just|always)\b",
    re.IGNORECASE,
)
"""The trouble does not follow it: ``does not follow n7``, ``not only on n7``."""
_HINT = lazy_regex(
    rf"\b{_RUN}\s|\b{_WHEN}\s|{_WELL}|except|\bbut\b|apart|than|besides|save|without|exclud|remov|drain|skip|tak|cordon|replac|swap"
    r"|drop|left|leav|only|always|just|follow|point|narrow|isolat|trac|pinn|culprit|limited|tied|odd one|factor| -x "
    r"|正常|没问题|只要|一旦|凡是|每次|每当|除|去掉|排除|不用|不包含|剔除|换掉|踢掉",
    re.IGNORECASE,
)


def read(sentence: str) -> str | None:
    """The host that the trouble follows by this sentence, as it is written (``node 7``); None where none is named."""
    if not _HINT.search(sentence):
        return None
    said = stated(sentence)
    names = list(_NAME.finditer(said))[:_MOST]
    for name in names:
        marked = _marked(said, names, name)
        marked = _NOT_ILL.sub(" fine ", marked)
        part = next(part for part in SEGMENTS.split(marked) if _MARK in part)
        if _DENIED.search(part):
            continue
        if any(_says(part, *way) for way in _WAYS) or _says(marked, _EXCEPT, _OTHERS) or _contrasts(marked):
            return name["name"] or f"{name['kind'].lower()} {name['number']}"
    return None


def _contrasts(marked: str) -> bool:
    """Does one clause say that the marked host does ill, and another that others do well? ``n1 works, n2 hangs``."""
    clauses = _CLAUSES.split(marked)
    ill = [clause for clause in clauses if _MARK in clause and _OTHER not in clause]
    well = [clause for clause in clauses if _OTHER in clause and _MARK not in clause]
    return (
        len(ill) == 1
        and len(well) == 1
        and _BAD.search(_PLACED.sub(" ", ill[0])) is not None
        and _BAD.search(well[0]) is None
        and _FINE.search(well[0]) is not None
    )


def _says(text: str, way: re.Pattern[str], tone: re.Pattern[str] | None) -> bool:
    """Is it said in this way, and does the rest of the text have the tone?

    A fault of another host does not count where this one does well: ``jobs with n7 work, n8 fails``.
    """
    if way.search(text) is None:
        return False
    if tone is None:
        return True
    if tone is _BAD:
        own = way.sub(" ", " , ".join(c for c in _CLAUSES.split(text) if _MARK in c or _OTHER not in c))
        if _FINE.search(own) and not _BAD.search(own):
            return False
    return tone.search(way.sub(" ", text)) is not None


def _marked(said: str, names: list[re.Match[str]], one: re.Match[str]) -> str:
    """The sentence with a mark for one name, and another for the rest."""
    text, end = "", 0
    for name in names:
        text += said[end : name.start()] + (_MARK if name is one else _OTHER)
        end = name.end()
    return text + said[end:]
