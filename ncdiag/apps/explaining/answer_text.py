"""Format an answer as text for people, in the current language."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.apps.explaining.answers import Answer
from ncdiag.apps.explaining.columns import width
from ncdiag.language import cells, lead_in, say, sentences

_DOCUMENTED = {"fact", "field", "derived field"}
"""Answers from the docstrings of the program, which exist only in English."""
_WORDS = {"is", "in this release", "severity"}
"""Details whose value is a word of a closed vocabulary."""

_LONG = 60
"""Characters of a part of a list from which on each part has its own line."""


def is_pasted(value: object) -> bool:
    """True if a detail consists of lines to paste, each of which ends in a newline."""
    return isinstance(value, str) and value.endswith("\n")


def text_of(answer: Answer) -> str:
    """The name and kind, the meaning, and each detail with its label."""
    told = str if answer.kind in _DOCUMENTED else sentences
    lines = [say("{text} ({note})", text=answer.name, note=say(answer.kind))]
    lines += cells.wrap(told(answer.meaning), width(), "  ", "  ")
    for name, value in answer.details.items():
        lines += _detail(name, value, is_documented=answer.kind in _DOCUMENTED)
    return "\n".join(lines) + "\n"


def _detail(name: str, value: object, *, is_documented: bool) -> Iterator[str]:
    told = str if is_documented else sentences
    if isinstance(value, dict):
        yield from (f"  {key} = {held}" for key, held in value.items())
        return
    if is_pasted(value):
        yield from ("", f"  {lead_in(name).rstrip()}", *(f"    {line}" for line in str(value).strip().splitlines()))
        return
    if isinstance(value, list) and any(len(str(part)) > _LONG for part in value):
        yield f"  {lead_in(say(name)).rstrip()}"
        for part in value:
            yield from cells.wrap(told(str(part)), width(), "  - ", "    ")
        return
    if isinstance(value, list):
        shown = say(", ").join(told(str(part)) for part in value)
    else:
        shown = say(str(value)) if name in _WORDS else told(str(value))
    yield from cells.wrap(say("{label}: {text}", label=say(name), text=shown), width(), "  ", "    ")
