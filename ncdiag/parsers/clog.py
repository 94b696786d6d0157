"""A log of torchcomms' ClogHook in a text: the calls of one rank. `ncdiag.formats.clog` describes the format.

A whole file is read by `ncdiag.text.sources.traces`, which keeps the latest calls only.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.formats.clog import HEAD, Clog
from ncdiag.parsers import flight_recorder

KIND = "clog"
COMMANDS: tuple[str, ...] = ()
ANCHOR = HEAD + r"\s*$"
_BEGIN = lazy_regex(ANCHOR)
_LINE = lazy_regex(r"(?:C\d{1,12}|G\d{1,20}|new_comm|split|WARN)\||\s*$|\s*\.{3}\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of the log; its first line begins the log of another rank."""
    return bool(lines) and _LINE.match(line) is not None and _BEGIN.match(line) is None


def parse(section: Section) -> Parsed:
    """One FlightRecord, in the place of its first line; lines of no known form are unread."""
    log = Clog()
    unread = [number for number, line in enumerate(section.lines) if not log.read(line) and line.strip(" .\t")]
    record = flight_recorder.recorded(section, log.dump(), 0)
    if record is None:
        return Parsed(unread=tuple(number for number, line in enumerate(section.lines) if line.strip()))
    return Parsed(observations=(record,), unread=tuple(unread))
