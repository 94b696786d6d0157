"""Shared by parsers of environments and command lines: splitting into words, relevant variables, secrets."""

from __future__ import annotations

import re
import shlex

import msgspec

from ncdiag.agent.hide import HIDDEN, KEPT_PATTERN, LINE_LIMIT, hide_secrets, is_kept, is_secret
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.nccl.judgement import names

__all__ = [
    "HIDDEN", "KEPT_PATTERN", "LINE_LIMIT", "hide_secrets", "is_kept", "is_secret", "is_variable", "pipeline",
    "unquoted", "without_secrets", "words",
]  # fmt: skip

_TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "\u00a0": " "})  # noqa: RUF001


_QUOTING, _UNQUOTED = "\"'\\", lazy_regex(r"[;|&]+|[^;|& \t\r\n]+")


def is_variable(name: str) -> bool:
    """True if a variable is kept: one of NCCL, a framework or a launcher, or a misspelt one of these, but no secret."""
    return is_kept(name) or (bool(names.suggest(name)) and not is_secret(name))


def without_secrets(section: Section) -> Section:
    """The section for parsers: overlong lines cut, secrets hidden in its lines and in its command."""
    lines = tuple(hide_secrets(line[:LINE_LIMIT]) for line in section.lines)
    command = hide_secrets(section.command[:LINE_LIMIT]) if section.command else section.command
    return msgspec.structs.replace(section, lines=lines, command=command)


def words(text: str) -> list[str]:
    """Words of a command line, quotes removed (unbalanced ones dropped); ``;``, ``|`` and ``&`` are separate words."""
    text = re.sub(r"\\(?:\s|$)", " ", text[:LINE_LIMIT].translate(_TYPOGRAPHY))
    if not any(map(text.__contains__, _QUOTING)):
        return _UNQUOTED.findall(text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return text.replace('"', "").replace("'", "").split()


def unquoted(value: str) -> str:
    """A value as a shell would assign it: one pair of quotes removed."""
    value = value.strip().translate(_TYPOGRAPHY)
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def pipeline(command: str | None) -> list[list[str]]:
    """The commands of a pipeline, each as its words, without what follows ``;`` or ``&&``. Empty if unknown."""
    stages: list[list[str]] = [[]]
    for word in words(command or ""):
        if set(word) <= set(";&") or word == "||":
            break
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return [stage for stage in stages if stage]
