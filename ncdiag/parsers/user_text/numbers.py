"""What two speeds or durations of a sentence say: several GPUs slower than one, or far less than elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex

_RATE = lazy_regex(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)\s?(?P<unit>[GM]i?B/s|[GM]bit/s|[GM]bps|s(?:ec)?\s?(?:/"
    r"|per\s)\s?(?:it|iter|step|batch|iteration)|seconds?|secs?|s|minutes?"
    r"|mins?|hours?|ms"
    r"|(?:samples|images|imgs?|tokens|steps|batch(?:es)?|iterations|it|iters?|tok|files|frames|sequences"
    r"|examples)\s?(?:/|per\s)\s?(?:second|sec|s))\b",
    re.IGNORECASE,
)
_COUNT = lazy_regex(
    r"\b(?P<number>one|a\ssingle|single|two|three|four|six|eight|\d{1,2})(?:x|\sx)?\s(?:gpus?|cards?)\b"
    r"|\b(?:n_?gpus?|num_gpus|gpus?)\s?=\s?(?P<set>\d{1,2})\b"
    r"|\b(?:with|on|using)\s(?P<bare>one|two|three|four|six|eight|\d)(?=[,.;:]|\s(?:it|this|the|takes|only|i"
    r"|we|about)\b)",
    re.IGNORECASE,
)
_CONTRAST = lazy_regex(
    r"\b(?:but|only|whereas|while|where|between|although|same|instead\sof|compared|others?|bare\smetal|should"
    r"|expect\w*|on\s(?:one|a\ssingle|the)\s\w+)\b",
    re.IGNORECASE,
)
_AS_EXPECTED = lazy_regex(r"\bas\s(?:we\s|i\s)?expect\w*", re.IGNORECASE)
_NUMBERS = {"one": 1, "a single": 1, "single": 1, "two": 2, "three": 3, "four": 4, "six": 6, "eight": 8}
_PER_SECOND = lazy_regex(r"/(?!\s?(?:it|step|batch))|per(?!\s(?:it|step|batch))|bps", re.IGNORECASE)
_FAR = 2.0
"""The ratio of two numbers of one unit from which somebody complains of the worse one."""
_GAIN = 1.1
"""What a speed must rise by with more GPUs, or a duration fall, so that nobody complains."""
_PAIR, _LISTED = 2, 6
_DROP = 1.3
"""The ratio of a former speed to that of now from which it is a complaint."""
_NEAR = 120
"""Characters after a speed in which its former value may be."""


def differ(sentence: str) -> bool:
    """True if the sentence contrasts two speeds or durations of one unit that are far from each other."""
    rates = _rates(sentence)
    values = [value for _, value in rates]
    far = len(rates) == _PAIR and max(values) >= _FAR * min(values) > 0
    return far and _CONTRAST.search(sentence) is not None and _AS_EXPECTED.search(sentence) is None


_BEFORE = lazy_regex(
    r"[,;(]?\s(?:(?:it|this|that|which|we|the\s\w+)\s)?(?:was|were|had(?:\sbeen)?|used\sto\s(?:be|get|reach)"
    r"|got|reached|saw)\s"
    r"(?:about\s|around\s|~\s?)?(?P<number>\d+(?:\.\d+)?)(?!\s?(?:%|x\b|[a-z]*gpus?|nodes?|hosts?"
    r"|ranks?))[^.;]{0,40}?"
    r"\b(?:before|earlier|previously|last\s\w+|yesterday|(?:in|on|with)\s(?:the\s)?(?:old|former|previous"
    r"|other)|until|once)\b",
    re.IGNORECASE,
)
"""A former value without a unit, or with the same one, behind that of now: ``61 GB/s, it was 338 before``."""


_SETS = lazy_regex(r"\b(?:set|sets|setting|limit\w*|cap\w*|throttl\w*|reduced|lowered|chang\w+)\b", re.IGNORECASE)
"""Words for what somebody does to a rate on purpose."""
_FROM_TO = lazy_regex(
    r"\bfrom\s(?:about\s|around\s|~\s?)?(?P<before>\d+(?:\.\d+)?)\s?(?P<unit>[A-Za-z]+/s|[GM]bps)?\s(?:down\s)?to\s"
    r"(?:about\s|around\s|only\s|just\s|~\s?)?(?P<now>\d+(?:\.\d+)?)(?:\s?(?P<later>[A-Za-z]+/s|[GM]bps))?(?![\w%]|\s?%)",
    re.IGNORECASE,
)
"""``went from 370 to 90 GB/s``."""


_SHOULD = lazy_regex(
    r"(?:\s(?:algbw|busbw|per\s\w+))?[,;:]?\s\(?(?:but\s|we\s|i\s|it\s){0,2}(?:expect(?:ed|ing)?|should\s(?:be|reach|give|get|have))\s"
    r"(?:about\s|around\s|to\sbe\s|~\s?)?(?P<number>\d+(?:\.\d+)?)(?![\w.]*\s?%)",
    re.IGNORECASE,
)
"""What a speed before it should be: ``15 GB/s (expected ~190)``."""
_ARROW = lazy_regex(
    r"\b(?:algbw|busbw|bandwidth|throughput|perf(?:ormance)?|speed)\s(?:\w+\s){0,2}?(?P<before>\d+(?:\.\d+)?)\s?[\w/]{0,8}\s?"
    r"(?:->|=>|\u2192)\s?(?P<now>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
"""``busbw 12 -> 4``."""


def fell(sentence: str) -> bool:
    """True if the sentence says a speed, and one of before, or one that is expected, that is far higher."""
    step = _FROM_TO.search(sentence)
    step = step if step is not None and (step["unit"] or step["later"]) else _ARROW.search(sentence)
    if step is not None and _SETS.search(sentence) is None:
        return float(step["before"]) >= _DROP * float(step["now"]) > 0
    for now in _RATE.finditer(sentence):
        end = now.end()
        before = _BEFORE.search(sentence, end, end + _NEAR) or _SHOULD.match(sentence, end, end + _NEAR)
        if before is not None and _PER_SECOND.search(now["unit"]):
            return float(before["number"]) >= _DROP * float(now["number"]) > 0
    return False


_IN_SECONDS = {"ms": 0.001, "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600}
_LATER = lazy_regex(
    r"\b(?:later|after|then|now|down\sto|up\sto|by\sthe|until|eventually|over\s(?:the\s)?(?:time|night|day|run"
    r"|hours)\b|overnight|evening|next\sday|(?:step|iteration|iter|epoch|hour|day)\s?\d+)\b",
    re.IGNORECASE,
)
_THEN = lazy_regex(
    r"\b(?:down\sto|at|to|is|was|it's|only|just|to\sonly)\s(?:about\s|around\s|only\s|just\s"
    r"|~\s?)?(?P<number>\d+(?:\.\d+)?)(?![\w%]|\s%|\.\d)",
    re.IGNORECASE,
)
"""A number without a unit that is said of a later time: ``an hour later it was at 300``."""
_COMPARED = lazy_regex(
    r"\b(?:gpus?|cards?|than|while|whereas|nodes?|clusters?|machines?|expect\w*|should|loss|with|when\susing"
    r"|instead)\b",
    re.IGNORECASE,
)
"""What two numbers are of, where not of two times of one run."""


def sinks(sentence: str) -> bool:
    """True if a speed falls, or a duration grows, between two times of a run: ``3 it/s, after an hour 0.9``."""
    first = _RATE.search(sentence)
    if first is None or _COMPARED.search(sentence) or not _LATER.search(sentence):
        return False
    rates = [(found["unit"].lower(), float(found["number"])) for found in _RATE.finditer(sentence)]
    if len(rates) == 1 and (bare := _THEN.search(sentence, first.end())) is not None:
        rates.append((rates[0][0], float(bare["number"])))
    if len(rates) != _PAIR:
        return False
    (unit, before), (other, after) = rates
    if _PER_SECOND.search(unit):
        return unit == other and before >= _DROP * after > 0
    before, after = before * _seconds(unit), after * _seconds(other)
    return _STEPS.search(sentence) is not None and after >= _DROP * before > 0


def _seconds(unit: str) -> float:
    return _IN_SECONDS.get(unit) or _IN_SECONDS.get(unit.removesuffix("s"), 1)


_STEPS = lazy_regex(r"\b(?:steps?|iterations?|iters?|batch(?:es)?|epochs?|it|slower)\b", re.IGNORECASE)
_SCORES = lazy_regex(
    r"\b(?:accuracy|acc|f1|bleu|rouge|score|map|miou|mmlu|recall|precision"
    r"|auc)\b[^.;]{0,40}?(?P<one>\d+(?:\.\d+)?)\s?%?[^.;\d]{1,60}?(?P<other>\d+(?:\.\d+)?)\s?%?",
    re.IGNORECASE,
)
_FEWER = 1.2
"""The ratio of two scores from which the worse is wrong."""


def scores_apart(sentence: str) -> bool:
    """True if two scores of a model are far apart."""
    found = _SCORES.search(sentence)
    return found is not None and max(values := (float(found["one"]), float(found["other"]))) >= _FEWER * min(values) > 0


def slower_with_more(sentence: str) -> bool:
    """True if the sentence gives a speed or duration for one GPU and for several, and the most gain nothing."""
    rates, counts = _rates(sentence, most=_LISTED), list(_counts(sentence))
    if len(rates) < _PAIR or len(rates) != len(counts) or min(counts) != 1 or max(counts) == 1:
        return False
    values = [value for _, (_, value) in sorted(zip(counts, rates, strict=True))]
    alone, together = values[0], values[-1]
    return together < alone * _GAIN if _PER_SECOND.search(rates[0][0]) else together * _GAIN > alone


def _rates(sentence: str, most: int = _PAIR) -> list[tuple[str, float]]:
    """Unit and value of the numbers with a unit, if there are from two to ``most`` and all have the same."""
    found = [(match["unit"].lower().rstrip("s") or "s", float(match["number"])) for match in _RATE.finditer(sentence)]
    return found if _PAIR <= len(found) <= most and len({unit for unit, _ in found}) == 1 else []


def _counts(sentence: str) -> Iterator[int]:
    for match in _COUNT.finditer(sentence):
        text = (match["number"] or match["set"] or match["bare"]).lower()
        yield _NUMBERS.get(" ".join(text.split())) or int(text)
