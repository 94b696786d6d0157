"""Text that no other parser claimed: what frameworks, MPI, the kernel, launchers and people wrote between the tools.

Each line is tried against the message catalogue (`ncdiag.messages`); a recognised line becomes an Event, the rest is
unread, except the chatter around errors, which is known and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers import _bare_nccl, _program

KIND = "text"
COMMANDS: tuple[str, ...] = ()
ANCHOR = ""


def continues(lines: Sequence[str], line: str) -> bool:
    """The cutter gathers text by itself."""
    return True


def parse(section: Section) -> Parsed:
    """The events of all lines; the line behind ``Last error:`` is NCCL's own text.

    Lines of an NCCL log without its prefix go to the log scanner, the others to the catalogue.
    """
    observations, bare = _bare_nccl.take(section)
    if not bare:
        return _program.read(section)
    others = [index for index in range(len(section.lines)) if index not in bare]
    rest = _program.leftovers(section, others)
    return Parsed(observations=(*observations, *rest.observations), unread=rest.unread)
