"""Lists of NCCL that a person put one entry on each line."""

from __future__ import annotations

import pytest

from ncdiag.text.sections.line import lines_of
from ncdiag.text.sections.listed import rejoined


@pytest.mark.parametrize(
    ("head", "entries"),
    [
        ("n1:4:5 [0] NCCL INFO NET/Socket : Using", ["[0]bond0:192.0.2.1<0>", "[1]br-05ab815fa14e:172.19.0.1<0>"]),
        ("NET/Socket : Using [0]eth0:192.0.2.1<0>", ["[1]veth61:fe80::b878:6cff:fe52:abe2%veth61<0> "]),
        ("INFO NET/IB : Using", ["[0]mlx5_0:1/RoCE", "[1]mlx5_bond_0:1/RoCE"]),
    ],
)
def test_entries_go_back_to_the_line_that_begins_the_list(head: str, entries: list[str]) -> None:
    found = rejoined(lines_of("\n".join(["before", head, *entries, "after"])))
    assert [(line.number, line.text) for line in found] == [
        (1, "before"), (2, " ".join([head, *(entry.strip() for entry in entries)])), (len(entries) + 3, "after"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Using\n[0]bond0:192.0.2.1<0>",
        "NET/Socket : Using\n[0] the first interface",
        "NET/Socket : Using\n\n[0]bond0:192.0.2.1<0>",
        "[0]bond0:192.0.2.1<0>\n[1]bond1:192.0.2.2<0>",
    ],
)
def test_other_lines_stay_as_they_are(text: str) -> None:
    lines = lines_of(text)
    assert rejoined(lines) == lines
