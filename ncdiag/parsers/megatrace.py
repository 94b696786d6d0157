"""When ranks called collectives: lines that `ncdiag.text.sources.traces` makes of Megatrace's logs, and such logs.

`ncdiag.formats.megatrace` describes the format of a log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.megatrace import FIELDS, LINE, Megatrace

KIND = "megatrace"
COMMANDS: tuple[str, ...] = ()
_SUMMARY = r"\{\"megatrace\": \["
ANCHOR = rf"(?:{_SUMMARY}|{LINE})"
SIGNS = ('{"megatrace": ', "[save_count ")
_LINE = lazy_regex(ANCHOR)
_RANK = lazy_regex(r"\[Rank (\d{1,7})\]")


def continues(_lines: Sequence[str], line: str) -> bool:
    """Lines of the same kinds."""
    return _LINE.match(line) is not None


def parse(section: Section) -> Parsed:
    """A CallTimes for each rank, at its last line, also where the tails of several logs are in one text."""
    found: list[Observation] = []
    unread: list[int] = []
    log, lines = Megatrace(), dict[int, int]()
    for number, line in enumerate(section.lines):
        if line.startswith('{"megatrace": '):
            try:
                fields = dict(zip(FIELDS, json.loads(line)["megatrace"], strict=True))
                found.append(observe(section, number, "CallTimes", **fields))
            except (ValueError, TypeError, KeyError):
                unread.append(number)
        elif log.read(line):
            told = _RANK.search(line)
            lines[int(told[1]) if told else 0] = number
        else:
            unread.append(number)
    found += [observe(section, lines.get(each["rank"], 0), "CallTimes", **each) for each in log.summaries()]
    return Parsed(observations=tuple(found), unread=tuple(unread))
