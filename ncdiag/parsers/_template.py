"""Copy this file to ``<kind>.py`` to add a parser; then put specimens under ``fixtures/sections/<kind>/``.

What the module must have (checked by `ncdiag.parsers.build`):

``KIND``       the section kind, equal to the module's name and to the fixture folder's
``COMMANDS``   program names whose echoed command line announces such a section (``ibstat``, ``ip addr``)
``ANCHOR``     regular expression text that matches, from its first column, a line that begins a section
``continues``  does the next line still belong to the section that these lines began?
``parse``      the section to observations; never raises, leaves what it does not understand in ``unread``

Source of the format: name the tool, its version and file here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "template"
COMMANDS: tuple[str, ...] = ("template-tool",)
ANCHOR = r"Template '\w+'$"


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented lines belong to the entry above; ``lines`` is the section so far, never empty."""
    return line.startswith((" ", "\t")) or not line.strip()


def parse(section: Section) -> Parsed:
    """Read one ``Template 'name'`` entry with its ``size`` line."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        words = line.split()
        if len(words) == 2 and words[0] == "Template":  # noqa: PLR2004  (a line has these two words)
            found.append(observe(section, index, "KernelModule", (words[1].strip("'"),)))
        elif words:
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=not unread)
