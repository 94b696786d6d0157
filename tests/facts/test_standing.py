"""Who is believed when two sources disagree, and when that is worth a word."""

from __future__ import annotations

import pytest

from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Observation, Standing
from ncdiag.spans import span


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
