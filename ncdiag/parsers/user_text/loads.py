"""How busy people say their GPUs are: one is idle while the others are busy, or all are busy and do not compute."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated

_FULL = r"(?:(?:9\d|100)\s?(?:%|percent)|fully?\sbusy|busy|spin(?:s|ning)?|polling)"
_NONE = r"(?:(?<![\d.])[0-2]\s?(?:%|percent)|idle|zero)"
_ONE = r"(?:(?:gpu|card|rank|device)\s?#?\d{1,4}|one\s(?:gpu|card|rank|device|of\sthem)|a\ssingle\s(?:gpu|card|rank))"
_REST = r"(?:all|others?|rest|remaining|every(?:\sother)?)"
_IDLE = lazy_regex(
    rf"\b{_REST}\b[^.;]{{0,80}}\b{_FULL}[^;]{{0,160}}?\b(?:except|but|only|while|apart\sfrom|whereas|and)\b[^.;]{{0,40}}?{_ONE}"
    rf"[^.;]{{0,60}}?{_NONE}"
    rf"|{_ONE}[^.;]{{0,60}}?{_NONE}[^;]{{0,80}}?\b{_REST}\b[^.;]{{0,60}}?{_FULL}",
    re.IGNORECASE,
)
_SPIN = lazy_regex(
    rf"{_FULL}[^.;]{{0,80}}?\bmem(?:ory)?\b[^.;\d]{{0,40}}?(?<![\d.])[0-2]\s?(?:%|percent)"
    rf"|{_FULL}[^.;]{{0,80}}?(?<![\d.])[0-2]\s?(?:%|percent)\s(?:of\s)?(?:memory|mem)\b"
    rf"|{_FULL}[^.;]{{0,80}}?\b(?:a\s)?third\sof\s(?:the|its|their)\spower",
    re.IGNORECASE,
)


def read(sentence: str) -> list[str]:
    """``one-gpu-idle``, ``gpus-spin`` or nothing."""
    if "%" not in sentence and "idle" not in sentence.lower() and "percent" not in sentence.lower():
        return []
    said = stated(sentence)
    return [name for name, pattern in (("one-gpu-idle", _IDLE), ("gpus-spin", _SPIN)) if pattern.search(said)]
