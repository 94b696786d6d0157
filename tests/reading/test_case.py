"""All that was read, in the order in which it is judged: texts, then what machines printed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from ncdiag.base.spans import span
from ncdiag.facts.observe import Observation
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.model import Item, Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource
from ncdiag.text.sources.model import Unreadable


class Seen(msgspec.Struct, frozen=True):
    """A machine that printed whether it is alone."""

    name: str

    def readings(self, *, alone: bool) -> Sequence[Reading]:
        text = f"{self.name}:7:7 [0] NCCL INFO Bootstrap : Using eth{int(alone)}:10.0.0.5<0>\n"
        return [read_source(TextSource.of_bytes(f"{self.name}'s log", text.encode()))]

    def observations(self) -> Sequence[Observation]:
        return [Observation(entity="Host", host=self.name, span=span(self.name, 0, ""), fields={"cloud": "aws"})]

    def not_seen(self) -> Sequence[str]:
        return []


def text(name: str) -> TextSource:
    return TextSource.of_bytes(name, b"node9:7:7 [0] NCCL INFO Using network IB\n")


def test_machines_come_after_the_texts() -> None:
    case = read_all([Seen("node1"), text("a"), Unreadable("b", "it is a socket"), Seen("node2"), text("c")])
    assert [each.source if isinstance(each, Reading) else each.name for each in case.texts] == ["a", "b", "c"]
    assert [reading.source for reading in case.readings] == ["a", "c", "node1's log", "node2's log"]
    assert [look.name for look in case.looks] == ["node1", "node2"]
    assert [observation.host for observation in case.observations] == ["node1", "node2"]
    assert {(host.name, host.cloud) for host in case.job().hosts} == {
        ("node9", None),
        ("node1", "aws"),
        ("node2", "aws"),
    }


@pytest.mark.parametrize(
    ("others", "alone"),
    [([], True), ([Seen("node2")], False), ([text("a")], False), ([Unreadable("b", "gone")], False)],
)
def test_a_machine_knows_whether_it_is_alone(others: list[Item], alone: bool) -> None:
    case = read_all([Seen("node1"), *others])
    (rank,) = case.printed[0].observations[:1]
    assert f"eth{int(alone)}" in rank.span.text
