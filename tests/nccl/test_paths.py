from __future__ import annotations

import itertools

import pytest

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import paths, versions


@pytest.mark.parametrize(
    ("number", "version", "name"),
    [
        (3, "2.3.7", "SOC"), (4, "2.5.7", "SYS"), (3, "2.7.8", "PXB"), (5, "2.10.3", "PHB"), (5, "2.17.1", "PXN"),
        (8, "2.18.3", "NET"), (3, "2.26.2", "C2C"), (7, "2.27.3", "P2C"), (7, "2.27.5", "PXN"), (6, "2.30.7", "P2C"),
        (11, "2.30.7", "DIS"), (12, "2.30.7", None), (-1, "2.30.7", None),
    ],
)  # fmt: skip
def test_numbers_have_another_name_in_each_version(number: int, version: str, name: str | None) -> None:
    assert paths.path_type(number, VersionRange.exact(version)) == name


def test_a_number_without_a_version_has_no_name() -> None:
    assert paths.path_type(5, None) is None
    assert paths.path_type(0, VersionRange(Version(2, 6), Version(2, 30))) == "LOC"


@pytest.mark.parametrize(
    ("text", "version", "level"),
    [
        ("PHB", "2.18.3", "PHB"), ("SYS", "2.6.4", "SYS"), ("phb", "2.18.3", None), ("NODE", "2.18.3", None),
        ("DIS", "2.30.7", None), ("NVB", "2.7.8", None), ("NVB", "2.8.3", "NVB"), ("C2C", "2.25.1", None),
        ("0", "2.18.3", "LOC"), ("1", "2.18.3", "PIX"), ("2", "2.18.3", "PXB"), ("3", "2.18.3", "PHB"),
        ("5", "2.18.3", "SYS"), ("99", "2.18.3", "SYS"), ("-1", "2.18.3", None), ("PHB ", "2.18.3", None),
        ("3", "2.4.2", "PHB"), ("PHB", "2.4.2", "LOC"), ("5", "2.5.7", "SYS"), ("\u0663", "2.18.3", None),
    ],
)  # fmt: skip
def test_levels_as_that_version_reads_them(text: str, version: str, level: str | None) -> None:
    assert paths.parse_level(text, VersionRange.exact(version)) == level


def test_default_gdr_level() -> None:
    assert paths.default_gdr_level(Version(2, 18, 3)) == "PXB"
    assert paths.default_gdr_level(Version(2, 29, 2)) == "P2C"
    assert paths.default_gdr_level(Version(2, 29, 2), c2c=False) == "PXB"
    assert paths.default_gdr_level(None) is None


def test_nearer_and_farther() -> None:
    assert paths.is_within("LOC", "PXB", None) is None  # the oldest scale has no LOC
    assert paths.is_within("PIX", "PXB", None) is True
    assert paths.is_within("PIX", "PXB", VersionRange(Version(2, 6), Version(2, 30))) is True
    assert paths.is_within("PHB", "PXB", Version(2, 18, 3)) is False
    assert paths.is_within("PXN", "P2C", Version(2, 27, 3)) is True
    assert paths.is_within("PXN", "P2C", Version(2, 30, 7)) is False


def test_samples_cover_each_behaviour_of_a_range_once() -> None:
    changes = (Version(2, 5), Version(2, 28))
    assert versions.samples(Version(2, 18, 3), changes) == (Version(2, 18, 3),)
    assert versions.samples(VersionRange(Version(2, 4), Version(2, 27)), changes) == (Version(2, 4), Version(2, 5))
    assert len(versions.samples(None, changes)) == 3


def test_forms_of_lines_that_follow_each_other_do_not_overlap() -> None:
    forms = [versions.DIALECTS[f"bootstrap {name}"] for name in ("list", "blank colon", "colon")]
    assert all(older.high < newer.low for older, newer in itertools.pairwise(forms))
