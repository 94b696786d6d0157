"""The truths of rdma_link specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_soft_rdma

PHYSICAL = {
    "NoChange": "NOP", "Sleep": "SLEEP", "Polling": "POLLING", "Disabled": "DISABLED", "LinkUp": "LINK_UP",
    "PortConfigurationTraining": "ARMED", "LinkErrorRecovery": "LINK_ERROR_RECOVER", "PhyTest": "PHY_TEST",
    "Offline": "OPA_OFFLINE", "Test": "OPA_TEST",
}  # fmt: skip


def truths(job: Job) -> dict[str, Any]:
    view = View(job)
    hcas = [hca for host in job.hosts for hca in host.hcas]
    links = [
        {
            "device": hca.name,
            "port": port.number,
            "state": (port.state or "").upper(),
            "physical": PHYSICAL.get(port.physical_state or ""),
            "netdev": port.netdev,
        }
        for hca in hcas
        for port in hca.ports
    ]
    return {"links": links, "soft_roce": any(is_soft_rdma(hca, view) for hca in hcas)}
