"""Secrets in sentences: ``the password for kim is x``, ``log in with kim / x``, ``machine h login kim password x``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.names import Promise, is_value, looks_random
from ncdiag.formats.secrets.signed import Signed
from ncdiag.formats.secrets.tokens import Span

__all__ = ["prose"]

_WHAT = (
    r"(?P<what>(?:pass[ -]?words?|passwd|pass[ -]?phrases?|pass[ -]?codes?|pwd|pw|passwort|kennwort|contrase\u00f1a"
    r"|mot de passe|senha|wachtwoord|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc"
    r"|\u30d1\u30b9\u30ef\u30fc\u30c9|pass(?=\s+for\s)|pin(?: code)?|otp|(?:2fa|mfa|recovery|backup|verification"
    r"|one-time|security"
    r"|unlock|activation|invite|login|access)[ -](?:code|pin|key)s?|psk|pre-shared key)"
    r"|(?:secrets?|(?:[a-z0-9]{2,12}[ -])?api[ -]?keys?|tokens?|(?:access|secret|private|licen[cs]e|encryption"
    r"|signing|account|master|shared|wandb|hf|ssh|auth|admin|recovery|service)[ -]keys?|cred(?:ential)?s?|pats?|jwt"
    r"|cookie|keys?|webhook))"
)
_OF = (
    r"(?:\s{1,3}(?:for|of|to|on|at|from|in|by|we use|i use|used"
    r"|f\u00fcr|zu[mr]?|von|vom|auf|am|beim?|der|des|pour|de|du|des|sur|au|para|del?|do|da|no|en|el|van|voor|op|bij"
    r"|\u0434\u043b\u044f|\u043e\u0442|\u043a|\u043d\u0430)(?:\s{1,3}[^\s:=]{1,60}){1,6}?)?"
)
"""What a secret is for, in the languages of the words for a password."""
_IS = (
    r"(?:\s{1,3}=|=(?=\s)|\s{0,3}(?::|\u2192|->|\u2013|\u2014|\uff1a)|\s{1,3}(?:is|was|are|were|be|ist|war|lautet|est"
    r"|es|era|\u00e9|luidt|will be|should be|has been|had been|got|becomes|being|used|remains|equals)(?=[\s:]))"
)
_AS = (
    r"\s{0,3}(?:(?:now|still|currently|simply|just|always|set to|changed to|reset to|changed|reset|called"
    r"|as follows|this|to|=|:)\s{0,3}:?\s{1,3}){0,3}"
)
_OPEN = r"[\"'`\u201c\u2018\u00ab\u201e*_(<\[]{0,3}"
_SAID = Signed(
    rf"(?<![\w-]){_WHAT}(?:\s\(\S{{1,40}}\)"
    rf")?{_OF}{_IS}{_AS}{_OPEN}(?P<value>[^\s\"'`\u201d\u2019\u00bb]{{3,400}})",
    re.IGNORECASE,
)
_USED = Signed(
    rf"\b(?:use|using|with|try|enter|typed?|the|my|our|your|new|old|default|root|admin|temporary|shared|user"
    rf"|account|and|set|sent|paste|pasted)\s{{1,3}}(?:[a-z]{{2,12}}\s)?{_WHAT}\s{{1,3}}(?:(?:to"
    rf"|as)\s{{1,3}})?{_OPEN}(?P<value>[^\s\"'`\u201d\u2019\u00bb]{{4,400}})",
    re.IGNORECASE,
)
_EAST = Signed(
    r"(?:\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638|\uc554\ud638)"
    r"\s{0,2}(?P<is>\u662f|\u4e3a|\u70ba|\u306f|\ub294|\uc740|[:=\uff1a])?\s{0,3}[\"'`\u201c\u300c]?(?P<value>[!-~]{4,200})",
    signs=("\u5bc6\u7801", "\u5bc6\u78bc", "\u53e3\u4ee4", "\u30d1\u30b9", "\ube44\ubc00\ubc88\ud638", "\uc554\ud638"),
)
"""The same in Chinese, Japanese and Korean, which have no blanks around a word; the value is in ASCII."""
_NETRC = Signed(
    r"\b(?:login|machine|account|default|user"
    r"|username)\s{1,8}\S{1,200}(?:\s{1,8}\S{1,200}){0,4}?\s{1,8}(?:password|passwd|pass)\s{1,8}(?P<value>\S{1,400})"
)
_NETRC_LINE = Signed(r"\s{0,40}(?:password|passwd|account)[ \t]{1,8}(?P<value>\S{1,400})\s*$")
_BOTH = Signed(
    r"\b(?:cred(?:ential)?s?|log ?-?in|log(?:ged)? in|sign in|user(?:name)?\s?/\s?(?:pass(?:word)?|pw|pwd)"
    r"|user:pass(?:word)?|account|user and password|auth|authenticate)\b"
    r"(?:\s{1,3}(?:is|are|was|were|with|as|using|details|info|data|for|to|on|the|credentials|creds|user|bmc|host"
    r"|node|ipmi|idrac|default|in"
    r"|use)){0,5}\s{0,3}[:=]?\s{0,3}[\"'`(]?(?P<user>[A-Za-z_][\w.@+-]{0,60})\s{0,2}(?P<by>[/:,]|\band\b"
    r"|with(?: password)?)\s{0,2}[\"'`]?(?P<value>[^\s\"'`]{4,200})",
    re.IGNORECASE,
)
_STRONG = lazy_regex(r"(?=\S{8})(?=\S*\d)(?=\S*[a-z])(?=\S*(?:[A-Z]|[!@#$%^&*+?~]))")
_BESIDE = Signed(
    r"(?<![\w-])(?:pass[ -]?words?|passwd|pass[ -]?phrases?|pwd|pw|pass|passwort|kennwort|wachtwoord|contrase\u00f1a"
    r"|mot de passe|senha|\u043f\u0430\u0440\u043e\u043b\u044c|secrets?|tokens?|cred(?:ential)?s?"
    r"|[a-z]{2,12}[ -]keys?)[ \t]{1,3}"
    r"[\"'`(<]?(?P<value>[^\s\"'`]{8,400})|(?:=\w{1,40}|\b(?:bind|as|user"
    r"|login)\b.{0,60}) / (?P<after>[^\s\"'`]{8,200})",
    re.IGNORECASE,
    (
        "pass",
        "pwd",
        "pw",
        "kennwort",
        "wachtw",
        "contrase",
        "senha",
        "\u043f\u0430\u0440\u043e\u043b",
        "secret",
        "token",
        "cred",
        "key",
        " / ",
    ),
)
"""A word next to a word for a secret; it counts if it mixes lower and upper case letters, digits and signs."""
_FOREIGN = lazy_regex(r"passwort|kennwort|wachtw|contrase|mot de|senha|\W", re.IGNORECASE)
"""Words for a password that are no words for a part of a program, beside which a hash may be."""
_GIVEN = Signed(
    r"\b(?:use|using|used|with|typed?|enter|entered|have|set|put|send|sent"
    r"|gave)\s{1,3}[\"'`]?(?P<value>[^\s\"'`]{5,200})[\"'`]?\s{1,3}(?:as|for)\s(?:the\s|my\s|a\s|your\s|our\s"
    r"|its\s)?(?:[a-z]{1,12}\s)?(?:pass|pw|token|secret|api[ -]?key|key)\w{0,6}\b",
    re.IGNORECASE,
)
_TRIED = Signed(
    r"\b(?:use|with|try|as)\s[\"'`]?[A-Za-z_][\w.-]{1,40}\s?[/:]\s?(?P<value>[^\s\"'`/:]{4,200})[\"'`]?\s(?:to|for"
    r"|when|if)\s(?:log|sign|connect|auth|get|access|ssh)",
    re.IGNORECASE,
)
_FIELDS = lazy_regex(
    r"\b(?:u|user|usr|username|login|id)\s?[:=]\s?[^\s,;/]{1,60}[\s,;/]{1,3}(?:p|pw|pass|pwd"
    r"|password)\s?[:=]\s?[\"'`]?(?P<value>[^\s\"'`]{3,200})",
    re.IGNORECASE,
)
_ALONE = lazy_regex(
    r"[a-z_][\w.-]{1,40}:(?P<value>(?=[^\s:]*\d)(?=[^\s:]*[A-Za-z])(?=[^\s:]*[^\w\s.:/-]"
    r"|[^\s:]*(?-i:[A-Z]))(?!\S*\.{3})[^\s:/@<>\[\](),=]{8,80})$",
    re.IGNORECASE,
)
_SHORT: tuple[tuple[Signed | re.Pattern[str], Promise], ...] = (
    (_GIVEN, Promise.LIKELY),
    (_TRIED, Promise.PASSWORD),
    (_FIELDS, Promise.PASSWORD),
)
"""A user and a password in a few words, with what these words announce."""
_END = lazy_regex(r"(?:[.,;:!?)\]>*_\u201d\u2019\u00bb\"'`]|\.{3})+$")
_PASSES = lazy_regex(
    r"(?:pass$|pass[ -]?w|passwd|pass[ -]?phr|pwd|pw$|passwort|kennwort|contrase|mot de|senha|wachtw|pin"
    r"|otp|\w+[ -](?:code|pin)|\W)",
    re.IGNORECASE,
)
_PLAIN = lazy_regex(r"[A-Za-z]?[a-z]+(?:[-'/][a-z]+)*\Z")
_MADE = lazy_regex(r"(?=.{12})\S*[a-z]\d+[a-z]")
_NO_KEY = lazy_regex(r"[/:]{2}|^[\w-]+\.[\w.]+$")
_FEW = 5
_SETTING = lazy_regex(r"\s=\s")
"""What follows the name of a setting, which a program prints after a prompt."""
_GRAMMAR = lazy_regex(r"[a-z]+(?:ed|ing|able|ible)\Z|(?:un|in)[a-z]{5,}\Z|[a-z]+ly\Z")


def prose(line: str) -> Iterator[Span]:
    """The spans of secrets in sentences."""
    for found in _SAID.finditer(line):
        if not _SETTING.match(line, found.end()):
            yield from _checked(found, said=True)
    for found in _USED.finditer(line):
        yield from _checked(found, said=False)
    yield from _eastern(line)
    for fields in (_NETRC.search(line), _NETRC_LINE.search(line)):
        if fields and is_value(fields["value"], Promise.PASSWORD):
            yield fields.span("value")
    yield from _beside(line)
    for form, promised in _SHORT:
        yield from (found.span("value") for found in form.finditer(line) if is_value(found["value"], promised))
    alone = _ALONE.match(line)
    if alone and is_value(alone["value"], Promise.LIKELY):
        yield alone.span("value")
    for found in _BOTH.finditer(line):
        span = _without_end(found)
        value = line[slice(*span)]
        if (
            is_value(value, Promise.LIKELY)
            and re.search(r"\w.*\w.*\w", value)
            and found["user"].lower() not in {"http", "https", "ssh", "tcp", "to", "the", "node", "host", "error"}
            and not re.search(r"://|^//", value)
        ) and not re.match(r"[\d.:]+$|[\w-]+(?:\.[\w-]+){2,}$|\d+(?:ms|s)?$", value):
            yield span


def _eastern(line: str) -> Iterator[Span]:
    """The spans of passwords in sentences without blanks between words."""
    for found in _EAST.finditer(line):
        value = found["value"]
        if is_value(value, Promise.LIKELY) and (found["is"] or _STRONG.match(value) or looks_random(value)):
            yield _without_end(found)


def _beside(line: str) -> Iterator[Span]:
    """The span of an adjacent word that can only be a secret."""
    for found in _BESIDE.finditer(line):
        group = found.lastgroup or "value"
        value = found[group]
        is_made = _STRONG.match(value) or (_FOREIGN.match(found[0]) and looks_random(value))
        if is_made and is_value(value, Promise.LIKELY) and "://" not in value:
            yield found.start(group), found.end(group) - len(_tail(found[group]))


def _without_end(found: re.Match[str]) -> Span:
    start, end = found.span("value")
    return start, end - len(_tail(found["value"]))


def _tail(value: str) -> str:
    """The punctuation after a value."""
    tail = _END.search(value)
    return tail[0] if tail and len(tail[0]) < len(value) else ""


def _checked(found: re.Match[str], *, said: bool) -> Iterator[Span]:
    """The span of a value that a sentence gives: for a password any word, for a key a string that is not a word."""
    span = _without_end(found)
    value = found.string[slice(*span)]
    password = _PASSES.match(found["what"]) is not None
    by_mark = found.string[found.end("what") : span[0]].strip()[:1] in {":", "=", "\u2192"}
    if not is_value(value, Promise.PASSWORD) or value.endswith("(") or not re.search(r"\w{2}|\w\W\w", value):
        return
    if found["what"].lower() == "pass" and not _STRONG.match(value):
        return
    if _PLAIN.match(value):
        if password and said and not _GRAMMAR.match(value) and value.islower():
            yield span
        return
    if value.isdecimal() and len(value) < 4:  # noqa: PLR2004  (no code is so short)
        return
    if re.match(r"\(|0x[0-9a-f]{1,8}$|[\d.]+$", value) and not password:
        return
    if found["what"].lower() in {"key", "keys", "cookie", "pat", "pats", "webhook"} or (not said and not password):
        if (looks_random(value) or _MADE.match(value)) and not _NO_KEY.search(value):
            yield span
        return
    if is_value(value, Promise.PASSWORD if password else Promise.LIKELY) and (
        password or not by_mark or len(value) > _FEW
    ):
        yield span
