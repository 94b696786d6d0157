"""Which release a log is of: what was printed, else what the wording of its lines lets expect."""

from __future__ import annotations

from ncdiag.facts.model import Rank
from ncdiag.read import facts_of

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
