"""States that people name in a sentence or in a list below its heading."""

from __future__ import annotations

import pytest

from ncdiag.parsers.user_text import idle, states
from ncdiag.text.reading.job import facts_of


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("One NVLink is down on GPU 3.", ["nvlink-down"]),
        ("We see wrong sums when one NVLink is down.", ["nvlink-down"]),
        ("All NVLinks are up.", ["nvlink-up"]),
        ("What if one NVLink is down?", []),
        ("It would fail if one NVLink is down.", []),
        ("GPU Direct RDMA is not enabled.", ["gdr-off"]),
        ("GDR enabled", ["gdr-on"]),
        ("GPUDirect-TCPXO is a daemon, and P2P-X, too.", []),
        ("IOMMU is disabled in the BIOS", ["iommu-off"]),
        ("I tried with IOMMU off and it hangs", []),
        ("It works when ACS is disabled.", []),
        ("Both root ports report SrcValid+ ReqRedir+.", ["acs-on"]),
        ("There is no ACS enabled on either node.", ["acs-off"]),
        ("Please check that ACS is disabled.", []),
        ("We disabled ACS on all bridges.", ["acs-off"]),
        ("The nvidia-peermem kernel module is loaded.", ["peermem-loaded"]),
        ("nv_peer_mem is installed on both hosts.", []),
        ("nv_peer_mem is not loaded.", ["peermem-missing"]),
        ("The fabric manager is not running.", ["fabric-manager-off"]),
        ("Install fabricmanager-530 from apt.", []),
        ("PFC is not enabled on the switch.", ["pfc-off"]),
        ("NUMA balancing is on.", ["numa-balancing-on"]),
        ("PFC/ECN is configured, no discards.", ["pfc-on"]),
        ("How is PFC configured?", []),
        ("PFC is not configured on the host.", ["pfc-off"]),
        ("The firewall is configured by Ansible.", []),
        ("RCCL 2.20.5, ROCm 6.2.2, numa_balancing=0, iommu=pt.", ["numa-balancing-off", "iommu-pt"]),
        ("iommu=pt is set.", ["iommu-pt"]),
        ("Is iommu=pt needed?", []),
        ("We were told to add iommu=pt, and did not yet.", []),
        ("ACS关了，iommu=off", ["iommu-off", "acs-off"]),
        ("防火墙已关闭，PFC 没有开启", ["firewall-off", "pfc-off"]),
        ("IOMMU 已经禁用", ["iommu-off"]),
        ("ACS 关闭后就正常了吗？", []),
        ("MIG-XYZ is the name of a device.", []),
        ("PFC is enabled on the switches, but not on the hosts.", []),
        ("PFC is enabled on the switches only.", []),
        ("The fabric manager is running on one node, on the other it is not.", []),
        ("ACS关闭的话会快", []),
        ("ACS 关闭后正常", []),
        ("防火墙关了没有", []),
        ("PFC 开启失败", []),
        ("怀疑是 IOMMU 开启", []),
    ],
)
def test_a_sentence_states(sentence: str, wanted: list[str]) -> None:
    assert states.read(sentence) == wanted


def test_a_list_below_its_heading_states_each_item() -> None:
    text = "These settings are disabled in the BIOS:\n- SVM\n- IOMMU\n- ACS\n\nIt hangs.\n- MIG\n"
    told = {c.value for c in facts_of({"text": [text]}).contexts if c.kind == "state"}
    assert told == {"iommu-off", "acs-off"}


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("Our health check says IMEX not ready on all idle GB300 nodes.", ["hosts-idle", "imex-not-ready"]),
        ("The rack is idle, and IMEX is DOWN there.", ["hosts-idle", "imex-not-ready"]),
        ("No job runs on the trays.", ["hosts-idle"]),
        ("No pods are scheduled on n3.", ["hosts-idle"]),
        ("IMEX is ready on the idle nodes.", ["hosts-idle"]),
        ("Is IMEX down on the idle nodes?", []),
        ("The GPUs are idle half of the time.", []),
        ("IMEX is not ready on two nodes, and the job fails.", ["imex-not-ready"]),
    ],
)
def test_idle_hosts(sentence: str, wanted: list[str]) -> None:
    """Idle are hosts without a job; GPUs that wait are not meant."""
    assert idle.read(sentence) == wanted
