"""``ls /dev/infiniband``: the device files of the RDMA stack; a container without them has no InfiniBand.

Source of the names: Linux drivers/infiniband/core (uverbs_main.c, user_mad.c, ucma.c). With ``-l`` one line a file.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation
from ncdiag.formats.basics import is_elision
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "infiniband_dev"
COMMANDS: tuple[str, ...] = tuple(
    f"{tool} /dev/infiniband{end}"
    for tool in ("ls", "ls -l", "ls -la", "ls -al", "ls -lh", "ll")
    for end in ("", "/", "/*")
)
_NAME = r"(?:(?:issm|umad|uverbs|ucm)\d{1,3}|rdma_cm|hfi1_\d{1,3}|by-ibdev|by-path)"
ANCHOR = (
    rf"[ \t]{{0,8}}(?:/dev/infiniband/)?{_NAME}(?:[ \t]*$|[ \t]+(?:/dev/infiniband/)?{_NAME}(?:[ \t]|$))"
    r"|ls: cannot access '?/dev/infiniband"
    rf"|[cd][rwx-]{{9}}\S?[ \t].{{0,80}}[ \t](?:/dev/infiniband/)?{_NAME}[ \t]*$"
)

_FILE = lazy_regex(rf"(?:/dev/infiniband/)?(?P<name>{_NAME})$")
_CLOSED = lazy_regex(r"c[rwx-]{6}---")
_FRAME = r"total \d+\s*$|/dev/infiniband/?\S*:\s*$"
_NOISE = lazy_regex(_FRAME)


class _Files(Reading):
    """The names of the device files; an empty listing or a missing folder is known to hold none."""

    def __init__(self, section: Section) -> None:
        """No name was read yet."""
        super().__init__(section)
        self.names: dict[str, None] = {}
        self.closed: dict[str, None] = {}
        self.first: int | None = None

    def listed(self, _: re.Match[str]) -> None:
        """The names in a line; none where the folder does not exist."""
        self.names |= {found["name"]: None for found in map(_FILE.match, self.line.split()) if found}
        self.first = self.index if self.first is None else self.first

    def long(self, found: re.Match[str]) -> None:
        """A file with its mode; one that is closed to others, and belongs to root, is kept."""
        self.listed(found)
        if _CLOSED.match(self.line) and found["name"].startswith("uverbs"):
            self.closed[found["name"]] = None

    def end(self) -> None:
        """All devices as one observation, where nothing was left out."""
        section, lines = self.section, self.section.lines
        devices = [name for name in self.names if not name.startswith("by-")]
        whole = not self.unread and not any(map(is_elision, lines))
        if whole and (self.first is not None or not lines or _NOISE.match(lines[0])):
            at = (
                section.span(self.first or 0)
                if lines
                else span(section.source, section.first_line, section.command or "")
            )
            fields = {"infiniband_devices": devices}
            if self.closed:
                fields["infiniband_closed"] = list(self.closed)
            self.found.append(Observation(entity="Host", host=section.host, span=at, fields=fields))
        elif not devices:
            self.found_nothing()


ROWS = Rows(
    _Files,
    Row(r"ls: cannot access '?/dev/infiniband/?(?:\*)?'?: No such file or directory", _Files.listed),
    Row(rf"[cdl][rwx-]{{9}}\S?\s.{{0,120}}\s(?:/dev/infiniband/)?(?P<name>{_NAME}|\.{{1,2}})\s*$", _Files.long),
    Row(rf"\s*(?:(?:/dev/infiniband/)?{_NAME}(?:\s+|$))+$", _Files.listed),
    Row(is_elision),
    Row(_FRAME),
)
