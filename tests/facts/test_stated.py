"""What people say of their machines fills the fields of hosts that no tool printed."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.facts.model import Host


def host(text: str) -> Host | None:
    view, _ = look(text)
    return view.job.hosts[0] if view.job.hosts else None


def test_a_release_and_gpus_in_prose_are_those_of_the_host() -> None:
    found = host("Our training hangs.\nWe use NCCL 2.10.3 on two nodes with 8 A100 each.\nThe IOMMU is disabled.\n")
    assert found is not None
    assert str(found.nccl_version) == "2.10.3"
    assert [gpu.model for gpu in found.gpus] == ["A100"] * 8
    assert found.iommu_translating is False
    assert found.provenance["nccl_version"].line == 2


def test_what_a_tool_printed_stays() -> None:
    log = "node1:100:110 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
    view, _ = look(f"Our training hangs. We use NCCL 2.10.3 with 8 A100.\n{log}")
    assert str(view.version()) == "2.21.5"


@pytest.mark.parametrize(
    "text",
    [
        "It works with NCCL 2.10.3. Another cluster has NCCL 2.21.5.\n",
        "Does it hang with NCCL 2.10.3?\n",
        "Previously we had NCCL 2.10.3, and it hung.\n",
    ],
)
def test_what_is_not_of_this_job_fills_nothing(text: str) -> None:
    found = host(text)
    assert found is None or found.nccl_version is None


def test_states_that_contradict_each_other_fill_nothing() -> None:
    found = host("Our training hangs.\nThe IOMMU is disabled.\nThe IOMMU is enabled.\n")
    assert found is None or found.iommu_translating is None
