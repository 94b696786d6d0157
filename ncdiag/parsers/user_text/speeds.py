"""The words for how a change affects the speed: what rises or falls, and two rates beside each other.

A verb of direction says something only of a quantity that is named near it: more throughput is faster, and more time
for each step is slower.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.words import Word

_NUMBER = r"\d+(?:\.\d+)?"
_SPEED = (
    r"(?:band\s?width|throughput|bus\s?-?bw|algbw|speed(?!-?\s?up)|performance|perf|efficiency|scaling|mfu"
    r"|(?:tokens?|tok|samples?|images?|imgs?|steps?|iterations?|it|frames?|seq(?:uences?)?)(?:/|\sper\s"
    r"|\sa\s)s(?:ec(?:ond)?)?|(?:data|transfer|line|link)\srates?|rates|(?:my|our|the|nccl|p2p|gpu|gpu-to-gpu"
    r"|all-?reduce|benchmark|bandwidth|link)\snumbers(?!\sof))"
)
_TIME = (
    r"(?:latency|latencies|overhead|runtime|duration|wall[-\s]clock|(?:step|iteration|iter|epoch|training|run"
    r"|round|batch|checkpoint|communication|comm|total|load(?:ing)?)[-\s]?times?|(?:times?|seconds|minutes"
    r"|ms)\s(?:per|for\seach|of\seach|a)\s(?:step|iteration|epoch|batch)|(?:each|every|an?|one)\s(?:step"
    r"|iteration|epoch)|the\s(?:step|epoch)|(?:steps|iterations|epochs)(?!\s(?:per|a)\s))"
)
"""What is measured: more of the first is faster, more of the second is slower."""
_PAST = r"(?:ed|es|s|ing)?"
_TURN_UP = (
    rf"(?:double[sd]?|doubling|triple[sd]?|tripling|quadruple[sd]?|increas(?:e[sd]?|ing)|rais(?:e[sd]?|ing)"
    rf"|improve[sd]?|improving|boost{_PAST}|lift{_PAST}|restore[sd]?|multiplie[sd]|lengthen{_PAST}|push{_PAST})"
)
_TURN_DOWN = (
    rf"(?:halve[sd]?|halving|reduc(?:e[sd]?|ing)|lower{_PAST}|decreas(?:e[sd]?|ing)|drop(?:s|ped|ping)?|cuts?"
    rf"|cutting|hurts?|degrade[sd]?|degrading|ruin{_PAST}|wreck{_PAST}|kill{_PAST}|shorten{_PAST}|shrinks?|shrank"
    rf"|limit(?:s|ed)?|cap(?:s|ped)|throttle[sd]?|crippl(?:e[sd]?|ing)|destroy{_PAST}|worsen{_PAST}|harm{_PAST}"
    rf"|slash(?:es|ed)?)"
)
"""What a change does to a quantity, by verbs that also say what is done with a setting."""
_RISE = (
    rf"(?:rises?|rose|risen|climb{_PAST}|jump(?:s|ed)?|grows?|grew|grown|gains|recover(?:s|ed)?"
    r"|(?:goes|go|went|gone|shoots|shot|is|are|was|were)\s(?:right\s|way\s|back\s)?up(?!\sand\b|\sagain)|(?:is"
    r"|are|was|comes?|came)\sback(?!\sto\b))"
)
_FALL = (
    rf"(?:falls?|fell|fallen|sinks?|sank|sunk|drops|dropping|declin(?:e[sd]?|ing)|plunge[sd]?|plummet{_PAST}"
    rf"|collapse[sd]?|collapsing|suffer(?:s|ed)?|degrade[sd]?|tank(?:s|ed)|tumble[sd]?|deteriorate[sd]?"
    r"|(?:goes|go|went|gone|is|are|was|were|comes?|came)\s(?:right\s|way\s)?down(?!\s(?:to|with)\s(?:an?\s"
    r"|the\s)?(?:batch|one|two))|(?:only|just|merely|barely|hardly)\s(?:still\s)?(?:about\s|around\s|roughly\s"
    r"|some\s)?(?:half|(?:a|one)\s(?:third|quarter|fifth|tenth|fraction)|\d{1,2}\s?(?:%|per\s?cent)))"
)
"""What a quantity does by itself."""
_TURNED = r"(?:(?:gets?|got|is|are|was|were|has|have|had|been|being|becomes?|became)\s){0,2}(?:\w+ly\s)?"
_GAP = r"(?:\s(?!(?:with|without|and|but|on|in|under|over|when|if|after|for|to|by|than)\b)[a-z'-]{1,16}){0,2}?"
_PLAIN_END = (
    r"(?=\W*$|\s?[,.;:!)]|\s(?:by|from|to|with|when|if|on|in|over|a\slot|again|and|but|once|after|since|\w+ly)\b)"
)
_OBJECT = rf"(?=\s(?:(?!(?:of|to|and|with)\b)[\w'-]{{1,16}}\s){{0,3}}(?:{_SPEED}|{_TIME})\b)"
_PORTION = (
    r"(?:(?:about|around|roughly|some|another|almost|nearly|over|at\sleast|up\sto|more\sthan|as\smuch\sas"
    r"|well\sover|a|an|the)\s){0,2}(?:\d+(?:[.,]\d+)?\s?(?:%|per\s?cent)|(?:\d+(?:[.,]\d+)?\s?x|half|third"
    r"|quarter|fifth)(?=\W*$|\s?[,.;:)]|\s(?:of|more|less|with|when|on|speed\S*|throughput|bandwidth|performance"
    r"|faster)\b)|factor\sof|lot\sof\s(?:speed|bandwidth|throughput)"
    r"|(?:\d\S*\s)?speed-?\s?ups?)(?!\s(?:of\sthe\s(?:gpus?|jobs?|runs?|nodes?|time)|chance))"
)
"""A part of the speed: ``another 40 %``, ``a third``, ``a factor of 2``."""
_LOSES = r"(?:costs?|loses?|lost|losing|eats?(?:\sup)?|ate|takes\saway|sacrifices?)(?:\s(?:us|me|you|it))?"
_GAINS = (
    r"(?:buys?|bought|gains?|gained|gives?|gave|brings?|brought|yields?|yielded|adds?|added|wins?|won|nets?"
    r"|delivers?|delivered)(?:\s(?:us|me|you|it))?"
)
_PER_SECOND = (
    r"(?:[KMGT]i?B/s(?:ec)?|[KMGT]i?Bps|[KMGT]bps|[KMGT]b(?:it)?/s|(?:it|tokens?|tok|samples?|steps?|images?"
    r"|imgs?)/s(?:ec)?|t?flops)"
)
_SPAN = r"(?:us|ms|s|sec|secs|seconds?|min|mins|minutes?|hours?|hrs?|h)"
_UNIT = rf"(?:\s?{_PER_SECOND}|\s?{_SPAN})(?![\w/])(?:\s(?:per|a|each|for\sa)\s?\w+)?"
_SOME = (
    r"(?:(?:about|around|roughly|only|just|some|the|our|~|almost|nearly|a\smere|what\swas|usual|normal"
    r"|previous)\s?){0,2}"
)
_BECOMES = rf"\s?(?:(?:up\s|down\s|back\s)?to|->|=>|\u2192)\s?{_SOME}"
_STANDS_FOR = (
    rf",?\s(?:instead\sof|rather\sthan|(?:as\s)?(?:compared|opposed)\s(?:to|with)|in\scomparison\s(?:to|with)"
    rf"|vs\.?|versus|against|(?:before|previously|earlier|formerly)(?:\sit\swas|\swe\shad)?|(?:up\s"
    rf"|down\s)?from)\s{_SOME}"
)
_MUCH = r"(?:(?:much|even|far|a\slot|significantly|slightly|considerably|noticeably|way)\s)?"
_FRACTION = (
    r"(?:half|(?:a|one)\s(?:third|quarter|fifth|tenth|fraction)|not\s(?:\w+\s)?|nowhere\snear|nothing\slike"
    r"|\d{1,2}\s?%)"
)
_CHINESE_SPEED = "(?:速度|带宽|吞吐量?|性能|速率|利用率)"
_CHINESE_TIME = "(?:耗时|用时|时间|延迟|时延)"

SPEEDS = (
    Word(
        "out", "slower",
        rf"{_MUCH}slower|slow(?:s|ed)\s(?:\w+\s)?down|(?:twice|(?:two|three|four|five|ten|\d+)\stimes)\sas\sslow"
        r"|(?:takes?|took|taking|needs?|needed|runs?|ran|lasts?|lasted)\s(?:(?!(?:half|third|quarter"
        r"|not)\b)\w+\s){0,3}?(?:(?:much\s)?longer(?!\sthan\s\d)|as\slong)(?!\sas\s(?:it|i|we|you|the\sjob)\b)"
        rf"|{_FRACTION}\s?as\s(?:fast|quick\w*)|(?:at\s|only\s)?{_FRACTION}\s(?:of\s)?(?:the\s|its\s"
        rf"|our\s)?(?:\w+\s)?{_SPEED}|{_LOSES}\s{_PORTION}|(?:negative|bad|adverse|detrimental)\s(?:impact|effect"
        rf"|influence)|adds?\s(?:about\s|another\s|some\s)?{_NUMBER}\s?(?:us|ms|s|seconds?|minutes?)\b",
        f"更慢|变慢|慢了|{_CHINESE_SPEED}[^，。,;]{{0,16}}?(?:下降|降低|降到|降为|掉到|跌到|变低|减半|只有|仅有|只剩)"
        f"|{_CHINESE_TIME}[^，。,;]{{0,16}}?(?:增加|变长|翻倍|上升|涨到)",
    ),
    Word(
        "out", "faster",
        rf"{_MUCH}faster|(?:speed|speeds|sped|speeding)\s(?:(?:it|things|everything|training|all|the\s\w+)\s)?up"
        rf"|accelerate[sd](?=\s(?:it|things|everything|training|the|our|by)\b)|(?:(?:twice|thrice|as|(?:two|three"
        rf"|four|five|ten|\d+(?:\.\d+)?)\stimes)\s)?as\s(?:fast|quick)"
        r"|full\s(?:speed|bandwidth)|(?:line|wire)\s(?:rate|speed)"
        rf"|(?:{_NUMBER}\s?x|twice|double|\d+\s?%\smore)\s(?:the\s|our\s)?{_SPEED}|(?:brings?|brought|gets?"
        rf"|got)\s(?:the\s|our\s)?(?:\w+\s)?{_SPEED}\s(?:up|back)|(?:takes?|took|needs?|needed)\s(?:only\s"
        rf"|just\s)?(?:half|a\s(?:third|quarter))\s(?:as\slong|(?:of\s)?the\stime)|saves?\s(?:us\s)?(?:about\s"
        rf"|another\s|some\s)?{_NUMBER}\s?(?:us|ms|s|seconds?|minutes?|%)|{_GAINS}\s{_PORTION}(?!\s(?:less|lower"
        rf"|slower|worse|longer))",
        f"更快|变快|快了|恢复正常速度|{_CHINESE_SPEED}[^，。,;]{{0,16}}?(?:提升|提高|翻倍|翻了|涨|上升|恢复|变高)|提升了?|翻倍"
        f"|{_CHINESE_TIME}[^，。,;]{{0,16}}?(?:减少|缩短|降到|下降|减半)",
    ),
    Word(
        "out", "rate",
        rf"(?:from\s)?{_SOME}{_NUMBER}{_UNIT}(?:{_BECOMES}|{_STANDS_FOR}){_NUMBER}(?:{_UNIT})?"
        rf"|(?:from\s)?{_NUMBER}(?:{_BECOMES}|{_STANDS_FOR}){_NUMBER}{_UNIT}|(?:{_SPEED}|{_TIME})(?:\s(?:has|have"
        rf"|is|are|was))?\s(?:goes|went|gone|moves?|moved|changed|rose|fell|dropped|climbed|jumped|up"
        rf"|down)\s(?:up\s|down\s)?from\s{_SOME}{_NUMBER}k?\sto\s{_SOME}{_NUMBER}k?",
    ),
    Word("out", "lower", rf"{_MUCH}(?:lower|worse)(?=\sthan\b|\W+compared\b|\W*$)"),
    Word("out", "higher", rf"{_MUCH}(?:higher|better)(?=\sthan\b|\W+compared\b)"
         r"|(?:twice|(?:two|three|four|five|\d+(?:\.\d+)?)\stimes)\s(?:as\s)?high(?:er)?"),
    Word("out", "worse", rf"(?:makes?|made|making|got|gets?|is|was)\s(?:it\s|things\s|matters\s|that\s"
                         rf"|everything\s)?{_MUCH}worse"),
    Word("out", "higher", rf"{_TURN_UP}{_OBJECT}"),
    Word("out", "lower", rf"{_TURN_DOWN}{_OBJECT}"),
    Word("out", "risen", rf"(?:{_SPEED}|{_TIME}){_GAP}\s{_TURNED}(?:{_TURN_UP}|higher|better|back|recover(?:s"
                         rf"|ed)?){_PLAIN_END}"),
    Word("out", "fallen", rf"(?:{_SPEED}|{_TIME}){_GAP}\s{_TURNED}(?:{_TURN_DOWN}|lower|worse|low){_PLAIN_END}"),
    Word("out", "lower", rf"(?:brings?|brought|takes?|took|drag(?:s|ged))\s(?:the\s"
                         rf"|our\s)?(?:\w+\s)?{_SPEED}\s(?:all\sthe\sway\s)?down"),
    Word("out", "lower", rf"(?:takes?|took|shave[sd]?|knock(?:s|ed)?)\s(?:about\s)?{_NUMBER}\s?(?:%|us|ms|s"
                         rf"|seconds?|minutes?)\soff"),
    Word("out", "higher", _RISE),
    Word("out", "lower", _FALL),
)  # fmt: skip
"""``higher`` and ``lower`` are of the quantity that is named near; ``risen`` and ``fallen`` begin with theirs."""
RELATIVE = frozenset({"rate", "lower", "higher", "risen", "fallen", "worse"})
"""Outcomes beside what was before, or than which something else is better or worse."""
_MORE = frozenset({"higher", "risen"})
_SPEEDS, _TIMES = (
    lazy_regex(rf"(?<![\w-]){_SPEED}(?!\w)", re.IGNORECASE),
    lazy_regex(rf"(?<![\w-])(?:{_TIME}|time)(?!\w)", re.IGNORECASE),
)
_VALUE = lazy_regex(rf"(?<![\w.])({_NUMBER})(?:\s?({_PER_SECOND}|{_SPAN})(?![\w/]))?", re.IGNORECASE)
_BECAME = lazy_regex(rf"{_NUMBER}(?:{_UNIT})?{_BECOMES}\d", re.IGNORECASE)
_CLAUSE = lazy_regex(r"[,;.](?:\s|$)")
_SECONDS = {"u": 1e-6, "ms": 1e-3, "s": 1.0, "mi": 60.0, "h": 3600.0}
_PREFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_AHEAD = 48
"""Characters after a verb in which its object is named."""


def direction(value: str, text: str, start: int, end: int) -> str:
    """Faster or slower, for an outcome of `RELATIVE` at this place of a text; empty for what is not of the speed."""
    if value == "rate":
        return _compared(text[start:end])
    if value == "worse":
        return "slower" if _SPEEDS.search(text) or ("/s" in text and _VALUE.search(text)) else "same"
    more = value in _MORE
    if value in {"risen", "fallen"}:
        return _measured(text[start:end], more=more)
    behind = _CLAUSE.search(text, end)
    after = text[end : min(end + _AHEAD, behind.start() if behind else len(text))]
    return _measured(text[:start], more=more) or _measured(after, more=more)


def _measured(near: str, *, more: bool) -> str:
    """Faster or slower, by the quantity that was named last: more bandwidth, or more time; empty for anything else."""
    speed, time = ([found.end() for found in pattern.finditer(near)] for pattern in (_SPEEDS, _TIMES))
    if not speed and not time:
        return ""
    is_speed = max(speed, default=-1) >= max(time, default=-1)
    return "faster" if is_speed is more else "slower"


def _compared(text: str) -> str:
    """Faster or slower, by two rates or two times, the first of which was before if it became the other."""
    values = [(float(n), unit) for n, unit in _VALUE.findall(text.lower())]
    if len(values) < len(("one", "other")):
        return ""
    (one, of_one), (other, of_other) = values[:2]
    if not (of_one or of_other):
        return _measured(text, more=other > one)
    (one, is_time), (other, too) = _scaled(one, of_one or of_other), _scaled(other, of_other or of_one)
    if is_time is not too or one == other:
        return ""
    before, now = (one, other) if _BECAME.search(text) else (other, one)
    return "faster" if (now > before) is not is_time else "slower"


def _scaled(number: float, unit: str) -> tuple[float, bool]:
    """The number in units without a prefix, and whether it is a time."""
    if "/" not in unit and not unit.endswith(("ps", "flops")):
        return number * next((s for short, s in _SECONDS.items() if unit.startswith(short)), 1.0), True
    return number * (_PREFIXES.get(unit[0], 1.0) if re.match(r"[kmgt](?:i?b|bps|flop)", unit) else 1.0), False
