"""A table of rows says what belongs to a section, what is read and what is not."""

from __future__ import annotations

import re

import pytest

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import (
    BLANK,
    ELISION,
    ONE_BLANK,
    Reading,
    Row,
    Rows,
    after_text,
    at_start,
    first_line,
    never,
    not_again,
    once,
)  # fmt: skip


class _Gadgets(Reading):
    """Gadgets with their size in a line below."""

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.name: str | None = None

    def gadget(self, found: re.Match[str]) -> None:
        self.name = found[1]

    def size(self, found: re.Match[str]) -> bool:
        if self.name:
            self.observe("KernelModule", (self.name,), used_by=int(found[1]))
        return self.name is not None

    def orphan(self, _: re.Match[str]) -> None:
        self.observe("Host", hostname="orphan")

    def end(self) -> None:
        if self.name == "last":
            self.observe("Host", at=0, hostname=self.line)
        if self.name == "none":
            self.found_nothing()

    def complete(self) -> bool:
        return bool(self.found) and not self.unread


ROWS = Rows(
    _Gadgets,
    Row(r"Gadget (\w+)$", _Gadgets.gadget, belongs=not_again),
    Row(r"  size (\d+)$", _Gadgets.size),
    Row(r"  size ", _Gadgets.orphan),
    Row(r"-+$"),
    Row(r"Usage: ", belongs=never),
    BLANK,
    ELISION,
    most=6,
    longest=40,
)


def _section(*lines: str) -> Section:
    return Section(kind="gadget", source="x", first_line=1, lines=lines)


def test_the_first_row_that_matches_decides_what_is_read() -> None:
    result = ROWS.parse(_section("Gadget a", "----", "  size 3", "", "  size ?"))
    assert [(o.entity, o.key, o.fields, o.span.line) for o in result.observations] == [
        ("KernelModule", ("a",), {"used_by": 3}, 3),
        ("Host", (), {"hostname": "orphan"}, 5),
    ]
    assert (result.unread, result.complete) == ((), True)


def test_a_row_that_declines_leaves_the_line_to_the_next() -> None:
    assert [o.entity for o in ROWS.parse(_section("  size 3")).observations] == ["Host"]


def test_what_no_row_takes_is_unread() -> None:
    lines = ("Gadget a", "something else", "  size 3", "[snip]", "Gadget " + "x" * 40)
    result = ROWS.parse(_section(*lines))
    assert (result.unread, result.complete, len(result.observations)) == ((1, 3, 4), False, 1)


def test_the_whole_section_may_say_something() -> None:
    result = ROWS.parse(_section("Gadget last", "----"))
    assert [(o.fields, o.span.line) for o in result.observations] == [({"hostname": "----"}, 1)]


def test_what_was_read_may_be_dropped_at_the_end() -> None:
    result = ROWS.parse(_section("Gadget a", "", "  size 3", "Gadget none"))
    assert (result.observations, result.unread, result.complete) == ((), (0, 2, 3), False)


def test_a_reading_may_leave_out_what_nobody_may_see() -> None:
    class Hidden(Reading):
        def __init__(self, section: Section) -> None:
            super().__init__(_section(*(line.replace("secret", "***") for line in section.lines)))

        def gadget(self, found: re.Match[str]) -> None:
            self.observe("Host", hostname=found[1])

    result = Rows(Hidden, Row(r"Gadget (.+)$", Hidden.gadget)).parse(_section("Gadget secret"))
    assert [(o.fields, o.span.text) for o in result.observations] == [({"hostname": "***"}, "Gadget ***")]


@pytest.mark.parametrize(
    ("line", "belongs"),
    [
        ("Gadget b", True), ("Gadget a", False), ("  size 3", True), ("----", True), ("", True), ("...", True),
        ("Usage: gadget", False), ("something else", False), ("-" * 41, False),
    ],
)  # fmt: skip
def test_the_rows_say_what_belongs(line: str, belongs: bool) -> None:
    assert ROWS.continues(("Gadget a",), line) is belongs


def test_a_section_has_at_most_so_many_lines() -> None:
    assert ROWS.continues(("Gadget a",) * 5, "----")
    assert not ROWS.continues(("Gadget a",) * 6, "----")


def test_blank_lines_without_a_row_end_a_section_and_are_never_unread() -> None:
    rows = Rows(Reading, Row("a"))
    assert not rows.continues(("a",), "")
    assert rows.parse(_section("a", "", " ")).unread == ()


def test_where_a_line_belongs() -> None:
    one = Rows(Reading, Row("a"), ONE_BLANK)
    assert [one.continues(lines, " ") for lines in (("a",), ("a", ""))] == [True, False]
    assert [not_again(("a", "b"), line) for line in "ab"] == [False, True]
    assert [once(("a", "b"), line) for line in "abc"] == [False, False, True]
    assert [at_start(lines, "a") for lines in ((" ",), ("a",))] == [True, False]
    assert [after_text(lines, "a") for lines in ((" ",), ("a",), ())] == [False, True, False]
    assert [first_line(lines, "c") for lines in (("", "a", "b"), ("",))] == ["a", "c"]


def test_a_function_may_be_in_the_place_of_a_pattern() -> None:
    def words(line: str) -> list[str] | None:
        return line.split() if " " in line else None

    def give(read: Reading, found: list[str]) -> None:
        read.observe("Host", hostname=found[1])

    rows = Rows(Reading, Row(words, give))
    result = rows.parse(_section("a b", "c"))
    assert ([o.fields for o in result.observations], result.unread) == ([{"hostname": "b"}], (1,))
    assert [rows.continues(("a b",), line) for line in ("c d", "c")] == [True, False]
