"""Who is believed when two sources disagree, and when that is worth a word."""

from __future__ import annotations

import pytest

from ncdiag.base.spans import span
from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Observation, Standing


def told(source: str, standing: Standing, value: object) -> Observation:
    fields = {"iommu_translating": value}
    return Observation(entity="Host", host="n1", span=span(source, 1, ""), standing=standing, fields=fields)


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned round"])
@pytest.mark.parametrize(
    ("one", "other", "believed", "conflicts"),
    [
        (("live", True), ("live", True), True, 0),
        (("live", True), ("live", False), None, 1),
        (("live", True), ("conf", False), True, 1),
        (("process", False), ("live", True), False, 1),
        (("conf", False), ("manifest", True), False, 1),
        (("live", False), ("default", True), False, 0),
        (("manifest", False), ("default", True), False, 0),
        (("default", False), ("default", True), None, 1),
    ],
)
def test_two_sources(
    one: tuple[Standing, bool], other: tuple[Standing, bool], believed: bool | None, conflicts: int, turned: bool
) -> None:  # fmt: skip
    both = [told("a", *one), told("b", *other)]
    job = merge(both[::-1] if turned else both)
    assert job.hosts[0].iommu_translating is believed
    assert len(job.conflicts) == conflicts


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned round"])
def test_of_two_packet_filters_the_stricter_decides(turned: bool) -> None:
    fields: list[dict[str, object]] = [
        {"input_policy": "drop", "input_drops": 0, "input_allows": ["10.1.0.0/16"]},
        {"input_policy": "accept", "input_drops": 2, "input_allows": ["ib0"]},
    ]
    both = [
        Observation(entity="Host", host="n1", span=span(str(number), 1, ""), fields=told)
        for number, told in enumerate(fields[::-1] if turned else fields)
    ]
    host = merge(both).hosts[0]
    assert (host.input_policy, host.input_drops) == ("drop", 2)
    assert set(host.input_allows or ()) == {"10.1.0.0/16", "ib0"}
    assert host.provenance["input_policy"].source == str(int(turned)), "the one that drops is shown"
    assert merge(both).conflicts == ()


def test_counters_of_two_tools_add_up() -> None:
    tools = [{"link_downed": 1, "symbol_error": 4}, {"link_downed": 3, "out_of_sequence": 9}]
    both = [
        Observation(
            entity="Port", key=("mlx5_0", 1), host="n1", span=span(str(number), 1, ""), fields={"counters": counters}
        )
        for number, counters in enumerate(tools)
    ]
    job = merge(both)
    assert job.hosts[0].hcas[0].ports[0].counters == {"link_downed": 3, "symbol_error": 4, "out_of_sequence": 9}
    assert job.conflicts == ()
