"""What the tools of AMD's and Huawei's accelerators print: read as data under fixtures/sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import FIXTURES, observed, specimens

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Npu

KINDS = ("amd_smi", "hccn_conf", "hccn_tool", "npu_smi", "rocm_smi")
CASES = specimens(*KINDS)


@pytest.mark.parametrize("path", CASES)
def test_facts_stand_in_the_model(path: Path) -> None:
    job = merge(observed(path))
    assert any(host.gpus or host.npus or host.links for host in job.hosts)


def test_npus_of_all_tools_are_one() -> None:
    parts = [
        FIXTURES / "npu_smi/info.txt",
        FIXTURES / "hccn_conf/two-devices.txt",
        FIXTURES / "hccn_tool/two-hosts.txt",
    ]
    job = merge([o for path in parts for o in observed(path)])
    (host,) = (host for host in job.hosts if host.name == "as01")
    first, second = host.npus
    assert (first.index, first.model, first.health, first.bus_id) == (0, "910B3", "OK", "0000:c1:00.0")
    assert (first.ip, first.gateway, second.ip, second.mtu) == ("10.40.0.10", "10.40.0.1", "10.40.1.10", 4096)
    assert isinstance(second, Npu)
    assert second.net_health is None
