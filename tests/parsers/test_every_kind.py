"""What holds for the parser of every kind of section, whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from specimens import FIXTURES, any_line, lines_of, shown, specimens
from tenth import tenth

from ncdiag.base.spans import Section
from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Parsed
from ncdiag.parsers import discover

KINDS = sorted(discover())
LINES = lines_of(*KINDS)
KNOTS = ['"', "<", ">", "/>", "{", "}", "[", "]", "-", "0", "9" * 20]

lines_of_any = st.sampled_from(LINES)


def lines_like(kind: str) -> st.SearchStrategy[str]:
    """Lines of the kind's own fixtures, whole, cut or with something put in, and any text."""
    own = lines_of(kind) or LINES
    whole = st.sampled_from(own)
    put_in = any_line(5) | st.sampled_from(KNOTS)
    return st.one_of(
        whole,
        lines_of_any,
        any_line(60),
        st.builds(lambda line, at, text: line[:at] + text + line[at:], whole, st.integers(0, 160), put_in),
        st.builds(lambda line, at: line[:at], whole, st.integers(0, 200)),
    )


@pytest.mark.parametrize("path", specimens(*KINDS))
def test_reads_what_is_expected(path: Path, expect: Callable[[Path, str], None]) -> None:
    expect(path.with_suffix(".json"), shown(path))


def test_every_folder_of_specimens_is_of_a_kind() -> None:
    assert {path.name for path in FIXTURES.iterdir()} <= {*KINDS, "nccl_log"}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", tenth(KINDS))
@examples(80)
@given(data=st.data(), command=st.none() | lines_of_any | st.text(max_size=30))
def test_garbage_never_raises(kind: str, data: st.DataObject, command: str | None) -> None:
    lines = data.draw(st.lists(lines_like(kind), max_size=14))
    parser = discover()[kind]
    taken = lines[:1]
    for line in lines[1:]:
        if parser.continues(taken, line):
            taken.append(line)
    result = parser.parse(Section(kind=kind, source="x", first_line=1, lines=tuple(lines), command=command))
    assert all(0 <= index < len(lines) for index in result.unread)
    merge(result.observations)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "infiniband_dev"])  # an empty folder is a fact
def test_an_empty_section_has_nothing(kind: str) -> None:
    result = discover()[kind].parse(Section(kind=kind, source="x", first_line=1, lines=(), command="x"))
    assert result == Parsed()
