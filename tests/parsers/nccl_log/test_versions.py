"""Which release a log is of: what was printed, else what the wording of its lines lets expect."""

from __future__ import annotations

import pytest
from generate import healthy

from ncdiag.facts.model import Rank
from ncdiag.text.reading.job import facts_of

OLD = "n1:40:51 [0] misc/socket.cc:381 NCCL WARN Call to bind failed : Address already in use"
"""A wording of releases before 2.23."""


def rank(*lines: str) -> Rank:
    (found,) = facts_of({"nccl_log": lines}, None).ranks
    return found


def test_the_wording_bounds_the_release() -> None:
    version = rank(OLD).nccl_version
    assert version is not None
    assert not version.known


def test_what_was_printed_wins_over_the_wording() -> None:
    assert str(rank("NCCL version 2.27.5+cuda12.8", OLD).nccl_version) == "2.27.5"


def test_a_line_that_the_printed_release_does_not_print_is_told() -> None:
    job = facts_of({"nccl_log": ("NCCL version 2.27.5+cuda12.8", OLD)}, None)
    (conflict,) = job.conflicts
    assert conflict.field == "nccl_version"
    assert conflict.kept == "2.27.5"
    assert [span.text for span in conflict.spans] == ["NCCL version 2.27.5+cuda12.8", OLD]


@pytest.mark.parametrize("release", healthy.RELEASES)
@pytest.mark.parametrize("fabric", healthy.FABRICS)
def test_no_release_contradicts_what_it_prints(release: str, fabric: healthy.Fabric) -> None:
    text = healthy.healthy_log(healthy.healthy_job(release, fabric))
    assert facts_of({"nccl_log": text.splitlines()}, None).conflicts == ()
