"""Secrets after the fixed words of programs: ``NAME set by environment to x``, prompts and answers, ``<(echo x)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.names import Promise, is_value, promise
from ncdiag.formats.secrets.signed import Signed
from ncdiag.formats.secrets.tokens import Span

__all__ = ["phrases"]

_SET = Signed(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})[\"'`]?(?: (?:is|was|has been|has|to be|env|environment|variable)){0,3}"
    r" (?:set|changed|overridden|reset|defined|exported|updated)"
    r"(?: (?:by|in|from|via|through)(?: [\w./-]{1,40}){1,4}?)?"
    r" (?:to|as|=|with value):? ?[\"'`]?(?P<value>[^\s\"'`]{2,4000})"
)
_ASKED = Signed(
    r"(?:^|[\s:\]>(])(?P<verb>(?:enter|paste|type|input|provide|give)\b.{0,60}?)?(?P<what>pass(?:word|phrase|code)|pin|otp"
    r"|(?:api|access|auth\w*|secret|personal)?[ _-]?(?:token|key)|secret)s?\b(?P<rest>.{0,140}?): ?"
    r"(?P<value>\S{3,4000})\s*$",
    re.IGNORECASE,
)
_OF_PROMPT = lazy_regex(
    r"(?:\s(?:for|of|from|to|at|on|in)\s.{1,100}|\s\([^()]{1,60}\)|\s\[[^\[\]]{0,60}\]"
    r"|.{0,100}\bhit enter\b.{0,60})?\Z",
    re.IGNORECASE,
)
_WRITTEN = Signed(r"(?P<name>[\w-]{2,60})[= ]<\(\s{0,4}(?:echo|printf)\s+(?:-n\s+)?[\"']?(?P<value>[^\s\"')]{2,4000})")
_ATTRIBUTE = Signed(
    r"\b(?:name|key|id)=[\"'](?P<name>[\w.-]{2,80})[\"'][^<>]{0,200}>\s{0,20}(?P<value>[^<>\s]{2,4000})\s{0,20}</"
)
_TAIL = ".,;"


def phrases(line: str) -> Iterator[Span]:
    """The spans of secrets that the words around them announce."""
    for found in _SET.finditer(line):
        announced = promise(found["name"])
        value = found["value"].rstrip(_TAIL)
        if announced and is_value(value, max(announced, Promise.RANDOM)):
            yield found.start("value"), found.start("value") + len(value)
    asked = _ASKED.search(line)
    if asked and _OF_PROMPT.match(asked["rest"]):
        is_password = asked["what"].lower().startswith(("pass", "pin", "otp"))
        is_prompt = asked["verb"] or asked["rest"].strip() or is_password
        if is_prompt and is_value(
            asked["value"], Promise.PASSWORD if is_password and asked["rest"].strip() else Promise.LIKELY
        ):
            yield asked.span("value")
    for found in _ATTRIBUTE.finditer(line):
        announced = promise(found["name"])
        if announced and is_value(found["value"], max(announced, Promise.RANDOM)):
            yield found.span("value")
    for found in _WRITTEN.finditer(line):
        if promise(found["name"].removesuffix("-file").removesuffix("_file")) >= Promise.LIKELY:
            yield found.span("value")
