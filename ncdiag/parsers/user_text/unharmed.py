"""That the job ends well in spite of what is reported: ``This does not prevent the job from finishing.``.

The subject has to be the message or a pronoun for it: that a change does not affect a job says that it was in vain.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import holds, segments, split_question

UNHARMED = "unharmed"
"""The state of a job that ends well although a program complains."""
_MESSAGE = (
    r"(?:the|this|that|these|those|such|all)\s(?:\w+\s){0,2}?"
    r"(?:warnings?|messages?|errors?|lines?|complaints?|output|noise)"
)
_SUBJECT = (
    r"^\W*(?:(?:and|but|so|though|luckily|fortunately)\W+){0,2}"
    rf"(?:this|that|it|they|these|those|which|{_MESSAGE})\s(?:all\s)?"
)
_NOT = r"(?:(?:do|does|did)(?:\snot|n't)|never)\s(?:(?:seem|appear)\sto\s|actually\s|really\s|otherwise\s){0,2}"
_JOB = (
    r"(?:the|my|our|any|all|its)\s(?:\w+\s){0,2}?"
    r"(?:jobs?|runs?|training|programs?|applications?|ranks|benchmarks?|inference|execution|server)"
)
_ENDING = r"(?:finish|complet|runn|work|train|succeed|continu|produc|end)ing"
_ENDS = r"(?:finish|complete|run|work|continue|train|succeed|end)(?:es|s|ed)?"
_AGAINST = r"(?:despite|in\sspite\sof|regardless\sof|notwithstanding)"
_SAID = lazy_regex(
    rf"{_SUBJECT}{_NOT}(?:prevent|stop|keep)\s(?:{_JOB}|it|anything|us|me)\sfrom\s{_ENDING}\b"
    rf"|^\W*{_MESSAGE}\s{_NOT}(?:affect|hurt|harm|influence|impact|break|disturb)\s"
    rf"(?:{_JOB}|(?:the|our|my)\sresults?)\b"
    rf"|\b{_AGAINST}\s{_MESSAGE}\W+(?:{_JOB}|everything)\s(?:still\s)?{_ENDS}\b"
    rf"|\b(?:{_JOB}|everything)\s(?:still\s)?{_ENDS}\s(?:\w+\s){{0,2}}?{_AGAINST}\s{_MESSAGE}"
    r"|(?:报错|警告|提示|信息|消息)\S{0,4}不影响(?:正常)?(?:训练|使用|运行|结果|任务|推理)",
    re.IGNORECASE,
)
_CLUES = ("prevent", "stop", "keep", "affect", "hurt", "harm", "influence", "impact", "break", "disturb", "spite",
          "regardless", "notwithstanding", "不影响")  # fmt: skip
"""One of these is in each such sentence."""
_OVER = lazy_regex(r"\b(?:any\s?more|no\slonger|now)\b", re.IGNORECASE)
"""It did harm before."""


def read(sentence: str) -> list[str]:
    """``unharmed`` if the sentence says so of a job, without a condition."""
    if not any(map(sentence.lower().__contains__, _CLUES)):
        return []
    said, asked = split_question(sentence)
    parts = [part for _, part in segments(said)]
    found = not asked and any(_SAID.search(part) and holds(part) and not _OVER.search(part) for part in parts)
    return [UNHARMED] if found else []
