"""Secrets in pairs of name and value on one line: shells, YAML, JSON, TOML, properties, XML, headers and Python."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.names import Promise, is_value, promise
from ncdiag.formats.secrets.tokens import Span

__all__ = ["named_apart", "pairs", "uncertain", "value_at"]


_LIMIT = 4000
_LOOKS, _FEW = 30, 64
"""How often a character may be scanned as part of a value, and the maximum length of values after that."""
_HEAD = lazy_regex(
    r"(?<![\w.-])(?P<dash>--?|/)?(?P<name>\.?[^\W\d](?:[\w.]|-(?!-))*)"
    r"(?:(?P<close>\\{0,3}[\"'`]\]?|&quot;|&#34;|%22|\]|\*\*)?"
    r"(?P<sep>(?:[ \t]\([A-Za-z ]{1,20}\))?[ \t]{0,20}(?:=>|:=|\?=|\+=|={1,3}|::?(?![:/]/)|%3[DdAa]|→|->|~>"
    r"|(?<=[ \t])[\u2013\u2014](?=[ \t]))[ \t]{0,20}"
    r"|(?P<listed>,[ \t]{0,4}(?=b?\\{0,3}[\"']))|(?P<tag>>)|(?P<call>\(\s?(?=[\"'])))|(?P<gap>[ \t]{1,20})(?=\S))"
)
"""A name and its separator from the value. ``listed``: elements of a list; ``gap``: the separator is blanks."""
_OPEN = lazy_regex(
    r"(?:[bruf]|SecretStr\(|os\.environ\.setdefault\()?(?P<q>\"\"\"|\'\'\'|\\{0,3}[\"'`]|&quot;|&#34;|%22"
    r"|\*\*)",
    re.IGNORECASE,
)
_BARE = lazy_regex(r"[^\s\"'`<>]{1,4000}")
_NEXT = lazy_regex(
    r"[,;&](?=\s?[\w.-]{1,60}[=:])|\\[nrt\"']|[,;)\]}]+(?:$|(?=[,;)\]}]))|[,;]$|%26|%22|&quot;|&#34;"
    r"|[|](?=\w)|\)\.|[})\],](?=\s|$)"
)
_KEY = lazy_regex(r"\\{0,3}[\"']\s?:")
"""What follows the name of another pair."""
_MEMBER = lazy_regex(r"::[A-Za-z_]+\b|>[\"'`]")
"""What follows a name that has no value: a member in C++, the end of a placeholder in quotes."""
_MIXED = lazy_regex(r"(?=[^\s/]*\d)(?=[^\s/]*[A-Za-z])[^\s/:]{6,}\Z")
_SENTENCE = 120
_REST = lazy_regex(
    r"[\"'<>]|\s[\w.-]{1,60}\s?[=:]|\s--?\w|\s[|;&#]|[,;]\s|\s(?:for|user|host|at|on|and|but|from|with|does"
    r"|did|is|was|not)\s|\. "
)
_WHOLE = lazy_regex(
    r"authorization|proxy-?authorization|(?:set-?)?cookie2?|http_cookie|http_authorization"
    r"|x-amz-security-token",
    re.IGNORECASE,
)
"""Headers with values of several words."""
_DECLARES = lazy_regex(
    r"(?:^|[\s;&|])(?:ENV|ARG|setenv|set|SET|export|setx|declare|typeset|env|add-env|putenv"
    r"|config|configure|-S|put|secret|variable)(?:\s+(?:set|-\w+|--\w+))*\s+$"
)
_LINE_START = lazy_regex(
    r"[\s>+|*#-]{0,40}(?:export\s|declare -x\s|set\s|[\d:.TZ -]{0,40}"
    r"|\[[^\]]{0,60}\]\s)?[\"']?$"
)

_VERDICT = lazy_regex(r"^\s*(?:---|===)\s$")
"""What Go's tests print before ``PASS: TestName``."""


def value_at(line: str, start: int, limit: int = _LIMIT) -> Span:
    """The span of the value that begins at ``start``, without quotes; unquoted values are limited in length."""
    opened = _OPEN.match(line, start)
    if opened:
        quote, begin = opened["q"], opened.end()
        end = _closing(line, begin, quote)
        return begin, end
    bare = _BARE.match(line, start)
    if not bare:
        return start, start
    text = bare[0][:limit]
    cut = _NEXT.search(text)
    while cut and cut[0][0] in ")]}" and _balanced(text[: cut.end()]):
        cut = _NEXT.search(text, cut.end())
    return start, start + (cut.start() if cut else len(text))


def _balanced(text: str) -> bool:
    return all(text.count(a) >= text.count(b) for a, b in ("()", "[]", "{}")) and any(a in text for a in "([{")


def _closing(line: str, begin: int, quote: str) -> int:
    """The index of the closing quote; the end of the line if there is none."""
    place = line.find(quote, begin, begin + _LIMIT)
    while place > begin and len(quote) == 1 and line[place - 1] == "\\" and line[place - 2 : place - 1] != "\\":
        place = line.find(quote, place + 1, begin + _LIMIT)
    return place if place >= 0 else min(len(line), begin + _LIMIT)


def pairs(line: str) -> Iterator[Span]:
    """The spans of values in the line whose names announce a secret."""
    place = spent = 0
    while head := _HEAD.search(line, place):
        place = head.end() if not head["gap"] else head.end("name")
        name = head["name"]
        promised = promise(name)
        if not promised:
            place = max(place, head.end("name"))
            continue
        span = _value_of(line, head, name, promised, _LIMIT if spent < _LOOKS * len(line) else _FEW)
        spent += min(_LIMIT, len(line) - head.end())
        if span and span[1] > span[0]:
            yield span
            place = max(place, span[1])


def uncertain(line: str) -> Iterator[str]:
    """Values in the line that are kept, although their names could announce secrets and they are no words."""
    for head in _HEAD.finditer(line):
        if not head["gap"] and promise(head["name"]):
            value = line[slice(*value_at(line, head.end(), _FEW))]
            if _MIXED.match(value) and not is_value(value, promise(head["name"])) and is_value(value, Promise.LIKELY):
                yield value


def _value_of(line: str, head: re.Match[str], name: str, promised: Promise, limit: int) -> Span | None:
    """The secret after a name; None if the value is not one."""
    if head["gap"]:
        return _after_blanks(line, head, promised)
    is_attribute = head["tag"] and line[head.start() - 1 : head.start()] not in {"<", ":"}
    is_verdict = name == "PASS" and _VERDICT.search(line[: head.start("name")])
    if is_attribute or is_verdict or _MEMBER.match(line, head.end("name")):
        return None
    if head["listed"]:
        promised = (
            promised
            if head["dash"]
            else Promise.RANDOM
            if promised is not Promise.PASSWORD and name.islower()
            else promised
        )
        if head["close"] is None or _KEY.match(line, value_at(line, head.end())[1]):
            return None
    if head["call"]:
        promised = min(promised, Promise.LIKELY)
    start = head.end()
    if _WHOLE.fullmatch(name):
        return _header(line, head, start)
    span = value_at(line, start, limit)
    value = line[slice(*span)]
    if span[0] == start and limit == _LIMIT and value and not head["dash"] and "%" not in (head["sep"] or ""):
        span = _rest(line, head, span, promised)
        value = line[slice(*span)]
    if promised is Promise.PASSWORD and value.isdecimal() and name.lower() in {"passes", "pass"}:
        return None
    return span if is_value(value, promised) else None


def _rest(line: str, head: re.Match[str], span: Span, promised: Promise) -> Span:
    """An unquoted value of several words, if the name begins the line and nothing else follows."""
    rest = line[span[1] :].rstrip()
    words = promised is Promise.PASSWORD and rest[:1] == " " and len(rest) < _SENTENCE
    if not words or _REST.search(rest + " ") or not _LINE_START.match(line[: head.start("name")]):
        return span
    sure = ":" in (head["sep"] or "") or head["name"].isupper()
    return (span[0], span[1] + len(rest)) if sure else span


def _header(line: str, head: re.Match[str], start: int) -> Span | None:
    """The value of a header up to the quote that encloses it."""
    opened = _OPEN.match(line, start)
    if opened:
        begin = opened.end()
        return begin, _closing(line, begin, opened["q"])
    outer = [mark for mark in "\"'" if line.count(mark, 0, head.start()) % 2]
    ends = [line.find(mark, start) for mark in outer] + [line.find("\\r", start), line.find("\\n", start)]
    end = min([place for place in ends if place >= 0], default=len(line))
    value = line[start:end]
    return (start, end) if is_value(value, Promise.PASSWORD) and value.lower() not in {"basic", "bearer"} else None


def _after_blanks(line: str, head: re.Match[str], promised: Promise) -> Span | None:
    """``--token x``, ``ENV TOKEN x``, ``password x``: name and value separated only by blanks."""
    span = value_at(line, head.end())
    value = line[slice(*span)]
    before = line[: head.start()]
    if head["dash"] or _DECLARES.search(before[-80:]):
        return span if not re.match(r"--?[a-z]", value) and is_value(value, promised) else None
    if head["name"].isupper() and "_" in head["name"] and promised >= Promise.KEY:
        return span if is_value(value, Promise.LIKELY) else None
    return None


_NAMED = lazy_regex(
    r"(?:\b|@)(?:name|key|variable|var|header|field|property|param|parameter|id|k|option|setting|title|label"
    r"|envname)(?:\\{0,3}[\"'`]|&quot;)?"
    r"(?:[ \t]{0,10}(?:[:=>]|=>)|(?<=name)[ \t]{0,20}\|"
    r"|(?<=variable)[ \t]{1,4}(?=\"[\w.-]{1,100}\"\s{0,4}\{))"
    r"[ \t]{0,10}b?(?:\\{0,3}[\"'`]|&quot;)?(?P<dash>--?)?(?P<name>[A-Za-z_][\w.-]{0,100})",
    re.IGNORECASE,
)
_VALUE = lazy_regex(
    r"\b(?:value|val|content|data|default|v|secret_?value|string_?value|plaintext|newvalue|current)(?:\\{0,3}[\"'`]"
    r"|&quot;)?[ \t]{0,10}(?:[:=>]|=>)[ \t]{0,10}(?=\S)",
    re.IGNORECASE,
)


def named_apart(line: str) -> tuple[list[Span], Promise, bool]:
    """``name: X, value: Y`` in both orders: (secrets, what a name announces, whether the value is present)."""
    best, spans, values = Promise.NONE, [], [found.end() for found in _VALUE.finditer(line)]
    for found in _NAMED.finditer(line):
        promised = promise(found["name"])
        if not promised:
            continue
        best = max(best, promised)
        behind, ahead = bisect_left(values, found.start()), bisect_right(values, found.end())
        after, before = values[ahead] if ahead < len(values) else None, values[behind - 1] if behind else None
        follower = _NAMED.search(line, found.end())
        other = follower.start() if follower else len(line)
        place = after if after is not None and (after < other or before is None) else before
        if place is not None:
            span = value_at(line, place)
            if is_value(line[slice(*span)], max(promised, Promise.LIKELY)):
                spans.append(span)
    return spans, best, bool(values)
