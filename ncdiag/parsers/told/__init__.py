"""What people tell in their own words beside what programs print: what they tried and what came of it.

A small grammar over words that it knows, in English and Chinese. Whatever it cannot parse tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ncdiag.facts.observe import Observation, observe
from ncdiag.parsers._prose import is_prose
from ncdiag.parsers.told import context, wants
from ncdiag.parsers.told.contrast import Trial, settled
from ncdiag.parsers.told.trials import Found, Reader
from ncdiag.spans import Section

_KINDS = frozenset({"text", "launch", "env"})
"""Sections in which a person may have written a line."""
_LONGEST, _NOTE = 1000, 240
_WRITTEN, NOTES = 400, 3000
"""Sentences that a person writes: what holds more is a book. Lines that may be notes, of which so many are read."""
_KEPT = 400
_CHEAP = re.compile(
    r"work|help|fix|solv|hang|stuck|fine|same|still|fail|crash|tried|try|no |ok|error|differ|gone|away|disappear"
    r"|succe|run|_[A-Z]|slow|fast"
    r"|[\u3400-\u9fff]|good|bad|yes|did|unchanged|help|\d|: ",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"\s*(?:\[|<|\{|\+ |\$ |#!|//|/\*|at |File \"|Traceback|[\w./-]+\.\w+:\d+|\d+: |\d{4}-\d\d-\d\d|\w+\(|\S+\.py\b"
    r"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|NOTE)\b|[EWI]\d{4}|[A-Za-z_.]+(?:Error|Exception|Warning)\b:)"
)
_PRINTED = re.compile(r"=|--|::|\w\.\w{1,5}:\d|\b(?i:error|warning):?\s|[{}<>|]|^\s*[a-z][\w./-]{1,40}: |^\+")
"""Signs of a program's line or a command."""
_MARKS = re.compile(r"^\s*(?:[>*#-]{1,6}\s+){0,4}(?:\[[ x]\]\s|\d{1,2}[.)]\s)?(?=\S)|[`*]")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。\uff01\uff1f])")
_EXPECTED = re.compile(r"\W*(?:expected|desired|期望)\b.{0,30}$", re.IGNORECASE)
_HEADING = re.compile(r"\s*#|[^.]{1,40}:\W*$")
_COMMENT = re.compile(r"\s#+\s")


def read(sections: Iterable[Section]) -> list[Observation]:
    """The trials, contexts and wishes that the lines of these sections tell."""
    lines = [(s, i) for s in sections if s.kind in _KINDS for i in range(len(s.lines))]
    lines.sort(key=lambda place: place[0].number(place[1]))
    found: list[tuple[Found, int]] = []
    others: list[Observation] = []
    reader, prose, notes, expected = Reader(), 0, 0, False
    for position, (section, index) in enumerate(lines):
        line = section.lines[index]
        if len(line) > _LONGEST:
            continue
        expected = _EXPECTED.match(line) is not None or (expected and not _HEADING.match(line))
        if expected:
            continue
        if is_prose(line):
            prose += 1
        elif notes < NOTES and _is_note(line):
            notes += 1
        else:
            continue
        if prose > _WRITTEN:
            return []
        spoken = section.kind == "text" and not _PRINTED.search(line)
        for sentence in sentences(line):
            found += [(trial, position) for trial in reader.read(sentence)]
            others += _others(sentence, section, index) if spoken else []
    return [*(_observed(trial, *lines[trial.index]) for trial in settled(found)), *others]


def may_tell(line: str, *, notes: bool) -> bool:
    """May the line, be it beside others, tell what a person tried, has or wants? ``notes``: be it in a few words."""
    if len(line) > _LONGEST:
        return False
    if is_prose(line) or _EXPECTED.match(line):
        return True
    if not notes or not _is_note(line):
        return False
    said = sentences(line)
    if any(map(Reader().read, said)):
        return True
    return not _PRINTED.search(line) and any(any(context.read(s)) or any(wants.read(s)) for s in said)


def _is_note(line: str) -> bool:
    return len(line) <= _NOTE and _CHEAP.search(line) is not None and _LOG.match(line) is None


def _others(sentence: str, section: Section, index: int) -> list[Observation]:
    """What the sentence says of the place, and what it wants."""
    text = section.lines[index][:_KEPT]
    return [
        *(observe(section, index, "Context", kind=k, value=v, text=text) for k, v in context.read(sentence)),
        *(observe(section, index, "Want", what=what, text=text) for what in wants.read(sentence)),
    ]


def sentences(line: str) -> list[str]:
    """The sentences of a line, without the marks of lists and code; a comment is one with what it stands behind."""
    text = _COMMENT.sub(", ", _MARKS.sub("", line.replace("\u2019", "'")))
    return [part for part in _SENTENCES.split(text) if part.strip()]


def tell(text: str) -> list[Trial]:
    """The trials of a text of some lines."""
    reader = Reader()
    told = [
        (trial, number)
        for number, line in enumerate(text.splitlines())
        for sentence in sentences(line)
        for trial in reader.read(sentence)
    ]
    return settled(told)


def _observed(trial: Trial, section: Section, index: int) -> Observation:
    outcome = {"same": "unchanged", "other": "other-error"}.get(trial.outcome, trial.outcome)
    return observe(section, index, "Trial", change=trial.change, outcome=outcome, text=section.lines[index][:_KEPT])
