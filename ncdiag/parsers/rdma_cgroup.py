"""``rdma.max`` and ``rdma.current`` of a control group: how many RDMA handles and objects it may have, and has.

Source of the format: Linux kernel/cgroup/rdma.c (print_rpool_values: ``mlx5_0 hca_handle=2 hca_object=max``) and
Documentation/admin-guide/cgroup-v2.rst, RDMA. ``grep`` and loops of a shell put the name of the file before the value,
``head`` and ``tail`` print it above. ``cat`` of a single file prints no name, so it is taken from the command.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "rdma_cgroup"
COMMANDS: tuple[str, ...] = ()
_COUNT = r"(?:\d{1,10}|max)"
_VALUE = rf"[A-Za-z][\w.-]{{0,63}} hca_handle={_COUNT} hca_object={_COUNT}"
_NAME = r"(?:[\w./@-]{0,200}/)?rdma\.(?:max|current)"
ANCHOR = rf"{_NAME}:[ \t]{{0,4}}{_VALUE}[ \t]*$|==> {_NAME} <==[ \t]*$|(?:sudo )?cat {_NAME}[ \t]*$|{_VALUE}[ \t]*$"
_IS_FILE = lazy_regex(r"rdma\.(max|current)(?=[\s:]|$)")
_PAIR = lazy_regex(r"(hca_handle|hca_object)=(\d{1,10}|max)")


class _Group(Reading):
    """``rdma_limits`` and ``rdma_held`` of the host, by device and kind; ``max`` means that there is no limit."""

    def __init__(self, section: Section) -> None:
        """Take the name of the file from the command, if that names exactly one."""
        super().__init__(section)
        named = _IS_FILE.findall(section.command or "")
        self.file = named[0] if len(named) == 1 else ""
        self.folder = ""
        self.groups: dict[str, list[tuple[int, str, dict[str, int]]]] = {}

    def heading(self, found: re.Match[str]) -> None:
        """The file whose values follow."""
        self.file, self.folder = found["file"], found["folder"] or ""

    def value(self, found: re.Match[str]) -> bool:
        """Keep the counts of a device; False if the file that they are from is not known."""
        file, folder = (found["named"], found["of"] or "") if found["named"] else (self.file, self.folder)
        if not file:
            return False
        counts = {
            f"{found['hca']} {name}": int(count) for name, count in _PAIR.findall(found["counts"]) if count != "max"
        }
        field = "rdma_limits" if file == "max" else "rdma_held"
        self.groups.setdefault(folder, []).append((self.index, field, counts))
        return True

    def end(self) -> None:
        """Report the files of one control group: of one that has reached a limit, else of the first."""
        folder = next((name for name in self.groups if self._is_full(name)), next(iter(self.groups), ""))
        for index, field, counts in self.groups.get(folder, ()):
            fields: dict[str, Any] = {field: counts}
            self.observe("Host", at=index, **fields)

    def _is_full(self, folder: str) -> bool:
        held, limits = (
            {name: count for _, kind, counts in self.groups[folder] if kind == field for name, count in counts.items()}
            for field in ("rdma_held", "rdma_limits")
        )
        return any(held.get(name, 0) >= limit for name, limit in limits.items())


_HEAD = r"(?P<folder>[\w./@-]{0,200}/)?rdma\.(?P<file>max|current)"
ROWS = Rows(
    _Group,
    Row(rf"==> {_HEAD} <==\s*$", _Group.heading),
    Row(rf"(?:\S{{0,60}}[#$] )?(?:sudo )?cat {_HEAD}\s*$", _Group.heading),
    Row(
        r"(?:(?P<of>[\w./@-]{0,200}/)?rdma\.(?P<named>max|current):\s{0,4})?(?P<hca>[A-Za-z][\w.-]{0,63})"
        rf" (?P<counts>hca_handle={_COUNT} hca_object={_COUNT})\s*$",
        _Group.value,
    ),
    BLANK,
)
