"""Find faults of a translation: lost placeholders, names and numbers, copies of the English, punctuation; its age."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.schema import Rule
from ncdiag.engine.translation import Translation, pairs, stamp, unwrapped

_HOLE = lazy_regex(r"\{([^{}]*)\}")
_GLUED = lazy_regex(r"(?<=\w)\{([^{}]*)\}")
_TOKEN = lazy_regex(r"[A-Za-z0-9_./*<>=:@%+~-]*[A-Za-z0-9_*>]")
_NAME = lazy_regex(r"[a-z]*[A-Z]{3,}s?|.*[0-9_].*|--?[a-z].*|.*[a-z]/[a-z].*|/.*|[a-z]+\.(?:conf|so|sh|py|service)")
"""A word that is the same in every language: a variable, an option, a path, a number, an abbreviation."""
_ALSO = {"NIC": "网卡", "NICs": "网卡", "and/or": "", "and/or.": "", "read/write": "", "on/off": ""}
"""Words of that form that are translated; empty: the translation may leave it out."""
_WIDE = r"[\u3400-\u9fff\uf900-\ufaff]"
_IS_WIDE = lazy_regex(_WIDE)
_HALF = lazy_regex(rf"{_WIDE} ?[,;:?!()]|[,;!?()] ?{_WIDE}")
_TIGHT = lazy_regex(rf"{_WIDE}[A-Za-z0-9{{]|[A-Za-z0-9}}]{_WIDE}")
_LOOSE = lazy_regex(rf"{_WIDE} {_WIDE}| [，。；：？！、）]|[，。；：？！、（] ")
_PLURAL = lazy_regex(r"([A-Z]{2,})s\Z")


def problems(rule: Rule, translation: Translation) -> Iterator[str]:
    """Sentences on the faults of its texts; missing and outdated texts are not reported."""
    for place, text, said in pairs(rule, translation):
        if said:
            yield from (f"{place}: {reason}" for reason in faults(text, unwrapped(said)))


def faults(text: str, said: str) -> Iterator[str]:
    """The faults of one text, each in a few words."""
    holes, kept = ({*map(str.strip, _HOLE.findall(each))} for each in (text, said))
    if holes != kept:
        yield f"the holes are {sorted(kept)} and not {sorted(holes)}"
    lost = [name for name in names(text) if _ALSO.get(name, name) not in said]
    if lost:
        yield f"these are missing: {', '.join(lost)}"
    if not _IS_WIDE.search(said) and re.search(r"[a-z]{3}", _HOLE.sub("", text)):
        yield "it is not translated"
    glued = set(_GLUED.findall(text))  # a placeholder that begins with its own separator
    bare = _HOLE.sub(lambda hole: "" if hole[1] in glued else "{}", said)
    yield from (f"half-width punctuation: {found[0]!r}" for found in [_HALF.search(bare)] if found)
    yield from (f"a blank is missing: {found[0]!r}" for found in [_TIGHT.search(bare)] if found)
    yield from (f"a blank too many: {found[0]!r}" for found in [_LOOSE.search(bare)] if found)
    end = " ".join(text.split())[-1:]
    if (end in ".?") != (said[-1:] in "。？") or (end == "?") != (said[-1:] == "？"):
        yield f"it ends in {said[-1:]!r} where the English ends in {end!r}"


def names(text: str) -> Iterator[str]:
    """The words of an English text that a translation must keep."""
    for word in _TOKEN.findall(_HOLE.sub(" ", text)):
        token = _PLURAL.sub(r"\1", word.rstrip("."))
        if _NAME.fullmatch(token):
            yield token


def missing(rule: Rule, translation: Translation) -> Iterator[tuple[str, str]]:
    """The keys of the texts that have no translation, each with its English text in one line."""
    for place, text, said in pairs(rule, translation):
        if not said:
            yield f"{place}.{stamp(text)}", " ".join(text.split())


def stale(rule: Rule, translation: Translation) -> list[str]:
    """The keys of texts that the rule does not have, or whose English has changed since they were translated."""
    known = {f"{place}.{stamp(text)}" for place, text, _ in pairs(rule, {})}
    held = [f"{place}.{made}" for place, texts in translation.items() for made in texts]
    return [key for key in held if key not in known]
