"""The ranks that Horovod's stall inspector waits for, below its warning: ``Missing ranks:`` and a line for each.

Format: horovod/common/stall_inspector.cc (0.19 to 0.28; ``Stalled ranks:`` up to 0.20): ``2: [tensors]``, with ``!``
behind a rank for which it ends the job.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "horovod_stall"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # other ranks write between the lines
EVENTS = {"horovod-ranks-missing": {"late_ranks": "str"}}
ANCHOR = r"(?:Missing|Stalled) ranks:[ \t]*$"

_RANK = lazy_regex(r"[ \t]{0,8}(?P<rank>\d{1,7})!?: \[\S.{0,4000}\]?[ \t]*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """The lines of the ranks."""
    return _RANK.match(line) is not None


def parse(section: Section) -> Parsed:
    """One event with all ranks; nothing where no rank is below the words."""
    found = [(index, match["rank"]) for index, line in enumerate(section.lines) if (match := _RANK.match(line))]
    unread = [i for i, line in enumerate(section.lines) if line.strip() and not _RANK.match(line) and i]
    if not found:
        return Parsed(unread=tuple(range(len(section.lines))))
    event = observe(
        section, found[0][0], "Event", event="horovod-ranks-missing", origin="torch", kind="symptom",
        text=section.lines[found[0][0]].strip()[:400], order=section.number(found[0][0]), count=1,
        fields={"late_ranks": ", ".join(dict.fromkeys(rank for _, rank in found))},
    )  # fmt: skip
    return Parsed(observations=(event,), unread=tuple(unread))
