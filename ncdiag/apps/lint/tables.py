"""Host files and HCCL rank tables: parsed by their parsers, judged by the rules."""

from __future__ import annotations

from collections import Counter

from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers import hccl_ranktable, hostfile

_HOST = lazy_regex(r"(?m)^[ \t]*(?P<host>[\w][\w.-]*)(?:[ \t]+(?P<rest>[^\n#]*))?")
_SLOTS = lazy_regex(r"(?:max[-_])?slots[ \t]*=[ \t]*(?P<count>\S+)")


def read_hostfile(document: Document) -> None:
    """Add the hosts, and findings for repeated hosts and slots that are not a number."""
    lines = tuple(document.text.split("\n"))
    section = Section(kind="hostfile", source=document.source, first_line=1, lines=lines, command="cat hostfile")
    document.observations += hostfile.ROWS.parse(section).observations
    seen: Counter[str] = Counter()
    for found in _HOST.finditer(document.text):
        place = document.lines_around(document.line_place(document.line(found.start("host"))))
        seen[found["host"]] += 1
        slots = _SLOTS.search(found["rest"] or "")
        if slots and not slots["count"].isdigit():
            what = f"{slots['count']!r} is not a number of slots"
            document.found.append(finding("hostfile-entry-wrong", place, what=what))
        elif seen[found["host"]] == 2 and slots:  # noqa: PLR2004  (told once)
            what = f"{found['host']} appears twice with slots"
            end = min(place.end + 1, len(document.text))
            document.found.append(
                finding("hostfile-entry-wrong", place, what=what, edits=(Edit(place.start, end, ""),))
            )


def read_ranktable(document: Document) -> None:
    """Add the rank table; violations of HCCL's requirements are found by the rules."""
    section = Section(
        kind="hccl_ranktable", source=document.source, first_line=1, lines=tuple(document.text.split("\n"))
    )
    document.observations += hccl_ranktable.parse(section).observations
