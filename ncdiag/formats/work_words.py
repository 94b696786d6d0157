"""What programs and people call the long work of one process, for which the others wait in a collective."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import Spell

_WORK: tuple[tuple[Spell, str], ...] = (
    ("evaluating", r"evaluat|validat|\beval\b|评估|验证|推理"),
    ("compiling", r"compil|autotun|\bjit\b|captur\w+\s(?:\w+\s)?graph|graph\scaptur|编译"),
    (
        "preparing",
        (
            r"tokeni[sz](?!er)|running\stokenizer|pre-?process|\bmap\b|packing|group(?:ing)?\stexts|prepar(?:es?|ed|ing)\b"
            r"|preparation|prepping|\bdata-?\s?(?:set\s)?prep\b|shuffl"
            r"|conver(?:t|ts|ting|sion)\b|(?:building|build)\s(?:\w+\s){0,3}ind(?:ex|ices)|generating\s\w+\s(?:split|examples)"
            r"|预处理|处理数据|分词|数据处理"
        ),
    ),
    ("downloading", r"download|fetching|下载"),
    (
        "saving",
        (
            r"\bsav(?:e|es|ed|ing)\b|checkpoint(?!\sshards)|\bckpt"
            r"|(?:writ|dump)\w*\s(?:\w+\s){0,3}(?:state|model|weights|optimizer)|保存|存盘"
        ),
    ),
    ("generating", r"generat|rollout|sampling\b|生成"),
    ("loading", r"\bload(?:s|ing|ed)?\b|reading\b|加载|读取"),
)
_OF_WORK = tuple((of, lazy_regex(pattern, re.IGNORECASE)) for of, pattern in _WORK)


def work_of(text: str) -> Spell | None:
    """The work that a text names first in the order of this table; None if it names none.

    A checkpoint may be loaded as well, and what is downloaded or compiled may be a model: the more special name counts.
    """
    found = next((of for of, pattern in _OF_WORK if pattern.search(text)), None)
    return "loading" if found == "saving" and _LOADED.search(text) and not _SAVED.search(text) else found


_LOADED, _SAVED = (
    lazy_regex(r"\b(?:load|restor|read|resum)\w*", re.IGNORECASE),
    lazy_regex(r"\b(?:sav|writ|dump|stor)\w*", re.IGNORECASE),
)
