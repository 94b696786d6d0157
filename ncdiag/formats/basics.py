"""Shared by several parsers: numbers, echoed command lines, lines that represent omitted text."""

from __future__ import annotations

import re
from collections.abc import Collection

from ncdiag.base.patterns import lazy_regex

_ELISION = lazy_regex(r"\s*[\[<(*]?\s*(?:\.\.\.+|…|snip|cut|truncated|omitted)[\s.…]*[\])>*]?\s*$", re.IGNORECASE)
_DIGITS = 18
_PAGERS = frozenset({"tee", "cat", "less", "more", "column"})
_FILTER = lazy_regex(r"(?<!\|)\|\s*(?:sudo\s+)?([\w.-]+)")
_SEPARATORS = frozenset({";", "&&", "||", "&"})


def is_elision(line: str) -> bool:
    """True if the line says that others were left out (``...``, ``[snip]``): the output is not complete."""
    return len(line) < 60 and _ELISION.match(line) is not None  # noqa: PLR2004  (longer lines say something)


def number(text: str) -> int | None:
    """A decimal or ``0x`` number; None for anything else, and for more digits than 64 bits have."""
    if len(text) > _DIGITS or not text.isascii():
        return None
    try:
        return int(text, 16) if text[:2].lower() == "0x" else int(text)
    except ValueError:
        return None


def quantity(text: str) -> float | None:
    """The number at the start of a text (``2.5``, ``400 Gb/sec (4X NDR)``); None if there is none."""
    found = re.match(r"\s*(\d{1,9}(?:\.\d{1,6})?)", text)
    return float(found[1]) if found else None


def arguments(command: str, program: str) -> list[str] | None:
    """The words after ``program`` in an echoed command line.

    None if a filter followed it, because lines may be missing.
    """
    words = re.sub(r"([|;])", r" \1 ", command[:4096]).split()
    names = [word.rsplit("/", 1)[-1] for word in words]
    if program not in names:
        return []
    found: list[str] = []
    for position, word in enumerate(words[names.index(program) + 1 :], names.index(program) + 1):
        if word in _SEPARATORS:
            break
        if word == "|":
            return found if names[position + 1 : position + 2] and names[position + 1] in _PAGERS else None
        if not re.match(r"\d?>", word):
            found.append(word)
    return found


def filters(command: str | None) -> list[str]:
    """The programs behind the pipes of a command, such as ``head``: what they leave out is not known to be missing."""
    return [program for program in _FILTER.findall(command or "") if program not in _PAGERS]


def unfiltered(command: str | None, program: str, options: Collection[str] = ()) -> bool:
    """True if the command printed everything: no filter follows, no argument except ``options``.

    True if it is unknown.
    """
    if command is None:
        return True
    words = arguments(command, program)
    return words is not None and all(word in options for word in words)
