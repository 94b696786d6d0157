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


def continues(_lines: Sequence[str], line: str) -> bool:
    """Lines of the same kinds."""
    return _LINE.match(line) is not None


def parse(section: Section) -> Parsed:
    """A CallTimes for each communicator of each rank; lines of no known form are unread."""
    found: list[Observation] = []
    unread: list[int] = []
    log, first = Megatrace(), None
    for number, line in enumerate(section.lines):
        if line.startswith('{"megatrace": '):
            try:
                fields = dict(zip(FIELDS, json.loads(line)["megatrace"], strict=True))
                found.append(observe(section, number, "CallTimes", **fields))
            except (ValueError, TypeError, KeyError):
                unread.append(number)
        elif log.read(line):
            first = number if first is None else first
        else:
            unread.append(number)
    found += [observe(section, first or 0, "CallTimes", **fields) for fields in log.summaries()]
    return Parsed(observations=tuple(found), unread=tuple(unread))
