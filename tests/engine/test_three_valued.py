"""Three-valued logic: the laws that it keeps, and that no value makes it raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.engine.three_valued import (
    ABSENT,
    COMPARISONS,
    Interval,
    at_most,
    both,
    either,
    equal,
    less,
    negate,
    version_equal,
    version_less,
)
from ncdiag.facts.scalars import Version, VersionRange

truths = st.sampled_from([True, False, None])
versions = st.builds(Version, st.integers(2, 4), st.integers(0, 3))
ranges = st.tuples(versions, versions).map(lambda pair: VersionRange(min(pair), max(pair)))
intervals = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: Interval(min(pair), max(pair)))
anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), ranges, intervals, st.just(ABSENT),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)  # fmt: skip


@given(truths, truths, truths)
def test_and_or_not_keep_the_laws_of_a_lattice(a: bool | None, b: bool | None, c: bool | None) -> None:
    assert both(a, b) is both(b, a)
    assert either(a, either(b, c)) is either(either(a, b), c)
    assert both(a, either(b, c)) is either(both(a, b), both(a, c))
    assert negate(both(a, b)) is either(negate(a), negate(b))
    assert negate(negate(a)) is a
    assert both(a, True) is a
    assert either(a, False) is a
    assert both(a, False) is False
    assert either(a, True) is True


@given(intervals, intervals, st.data())
def test_intervals_compare_as_all_the_numbers_in_them(a: Interval, b: Interval, data: st.DataObject) -> None:
    x = data.draw(st.integers(a.low, a.high))
    y = data.draw(st.integers(b.low, b.high))
    for compare, truth in ((less, x < y), (at_most, x <= y), (equal, x == y)):
        assert compare(a, b) in (truth, None)
        assert compare(x, y) is truth


@given(ranges, ranges, st.data())
def test_version_ranges_compare_as_all_the_versions_in_them(
    a: VersionRange, b: VersionRange, data: st.DataObject
) -> None:
    inside = [st.sampled_from([r.low, r.high]) for r in (a, b)]
    x, y = data.draw(inside[0]), data.draw(inside[1])
    assert version_less(a, b) in (x < y, None)
    assert version_equal(a, b) in (x == y, None)


@pytest.mark.parametrize("name", sorted(set(COMPARISONS) - {"constraint", "network", "listed", "version_listed"}))
@given(a=anything, b=anything)
def test_comparisons_never_raise(name: str, a: object, b: object) -> None:
    assert COMPARISONS[name](a, b) in (True, False, None)


@given(anything)
def test_comparisons_with_constants_never_raise(value: object) -> None:
    assert COMPARISONS["constraint"](value, ">=2.4,<2.21") in (True, False, None)
    assert COMPARISONS["network"](value, "10.0.0.0/8") in (True, False, None)
    assert COMPARISONS["version_listed"](value, ("2.18", "2.21.5")) in (True, False, None)


def test_an_unbounded_interval() -> None:
    assert less(Interval(3, None), 3) is False
    assert less(2, Interval(3, None)) is True
    assert equal(Interval(3, None), 3) is None
    assert str(Interval(3, None)) == "at least 3"


def test_what_is_absent_equals_nothing_and_has_no_order() -> None:
    assert equal(ABSENT, "3") is False
    assert less(ABSENT, 3) is False
    assert at_most(3, ABSENT) is False
    assert equal(ABSENT, None) is None
