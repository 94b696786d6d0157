"""What ``ncdiag explain`` says of a release: which defects it fixes, has, and may have."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.apps.explaining import answers_to


def explained(thing: str) -> dict[str, Any]:
    """The details of the answer about a release."""
    (answer,) = [one for one in answers_to(thing) if one.kind == "release"]
    return answer.details


def test_a_release_fixes_some_defects_has_others_and_may_have_more() -> None:
    told = explained("2.28.7")
    assert any(said.startswith("may corrupt small messages in symmetric memory") for said in told["fixes"])
    assert any("(fixed in 2.28.9; v2.28.9-1, src/proxy.cc)" in said for said in told["still broken in it"])
    assert any("issue 1859" in said for said in told["may be in it"])
    assert not set(told["fixes"]) & {*told["still broken in it"], *told["may be in it"]}


@pytest.mark.parametrize(
    ("thing", "rebuild"),
    [
        ("2.27.7+cuda12.9", None), ("v2.28.3-1", None), ("nccl 2.18.5", None), ("2.28.3-nv25.10", "nv25.10: "),
        ("2.18.3-1.fc39", "1.fc39: "), ("2.21.5-1ubuntu1", "1ubuntu1: "),
    ],
)  # fmt: skip
def test_a_suffix_that_is_not_of_nvidia_means_a_rebuild(thing: str, rebuild: str | None) -> None:
    told = explained(thing).get("rebuild", "")
    assert told.startswith(rebuild) if rebuild else not told


@pytest.mark.parametrize(
    ("thing", "note"), [("2.28.4", "there are 2.28.3, 2.28.7, 2.28.9"), ("2.99.1", "none of 2.99 is known")]
)
def test_a_number_without_a_release_is_said_to_be_none(thing: str, note: str) -> None:
    assert note in explained(thing)["note"]


@pytest.mark.parametrize(
    ("thing", "defect"),
    [
        ("aws-ofi-nccl 1.19.0", "several receives are grouped"), ("rccl 2.26.6", "small all-reduces"),
        ("pytorch 2.7.0", "device_id"), ("driver 535.104.05", "denies peer access"),
    ],
)  # fmt: skip
def test_releases_of_what_works_with_nccl_are_explained_too(thing: str, defect: str) -> None:
    assert any(defect in said for said in explained(thing)["still broken in it"])


@pytest.mark.parametrize("thing", ["12.4", "1.2.3", "0.19", "2.28.7.1", "10.0.0.1"])
def test_a_number_that_is_not_a_release_of_nccl_is_not_explained_as_one(thing: str) -> None:
    assert [one.kind for one in answers_to(thing) if one.kind == "release"] == []
