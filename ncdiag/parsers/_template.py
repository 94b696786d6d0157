"""Copy this file to ``<kind>.py`` to add a parser; then put specimens under ``fixtures/sections/<kind>/``.

What the module must have (checked by `ncdiag.parsers.build`):

``KIND``       the section kind, equal to the module's name and to the fixture folder's
``COMMANDS``   program names whose echoed command line announces such a section (``ibstat``, ``ip addr``)
``ANCHOR``     regular expression text that matches, from its first column, a line that begins a section
``ROWS``       the lines of the output, each with what it gives (`ncdiag.parsers._rows`)

A format that is not read line by line (JSON, XML, YAML, a launch line) has two functions instead of ``ROWS``, which may
ask those of a table, ``ROWS.continues`` and ``ROWS.parse``, for a part:

``continues``  ``(lines, line) -> bool``: does the next line still belong to the section that these lines began?
``parse``      ``(section) -> Parsed``: the section to observations; never raises, lists what it does not understand

What it may have:

``SIGNS``      literals to find the beginnings by, where others than those read off ``ANCHOR`` are rarer
``STRUCTURE``  the characters with which an alternative of ``ANCHOR`` without a literal of 4 characters may begin: in
               small letters, ``0`` for any digit
``FREQUENT``   the reason for each literal that ordinary text has as well (``tests/parsers/test_anchors.py`` says which)
``INTERLEAVED``, ``LAUNCHED``  see `ncdiag.parsers.Parser`; ``EVENTS``, names and fields of events that no message has

Source of the format: name the tool, its version and file here.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "template"
COMMANDS: tuple[str, ...] = ("template-tool",)
ANCHOR = r"Template '\w+'$"


class _Entries(Reading):
    """Entries, each with its use count in an indented line; complete when nothing was left out."""

    name: str | None = None

    def entry(self, found: re.Match[str]) -> None:
        """``Template 'name'`` begins an entry."""
        self.name = found["name"]

    def used_by(self, found: re.Match[str]) -> bool:
        """``  used by 3``; False without an entry above, which leaves the line unread."""
        if self.name is None:
            return False
        self.observe("KernelModule", (self.name,), used_by=int(found["count"]))
        return True

    def complete(self) -> bool:
        """All entries are there."""
        return bool(self.found) and not self.unread


ROWS = Rows(
    _Entries,
    Row(r"Template '(?P<name>\w{1,64})'\s*$", _Entries.entry),  # belongs=not_again: one that an output has only once
    Row(r"\s{1,8}used by (?P<count>\d{1,9})\s*$", _Entries.used_by),
    Row(r"-{3,80}\s*$"),  # a rule between entries says nothing
    BLANK,
    ELISION,
)
