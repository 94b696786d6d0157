"""What one queue pair carries of what several do, as tests of the link show it."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import LinkTest
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.link_tests import is_alike, measured_bandwidth, ways


@derived
def of_one_queue_pair(test: LinkTest, view: View) -> float | None:
    """The result over one queue pair divided by the best over several of the same device; None without both.

    1 for a test over several itself.
    """
    mine = measured_bandwidth(test)
    if test.qps is None or mine is None:
        return None
    if test.qps > 1:
        return 1.0
    others = [other for other in view.job.link_tests if (other.qps or 0) > 1 and is_alike(test, other)]
    several = [(found[0] / ways(other), other) for other in others if (found := measured_bandwidth(other))]
    if not several:
        return None
    best, other = max(several, key=lambda item: item[0])
    view.note(test, "rows")
    view.note(other, "rows")
    return mine[0] / ways(test) / best


@derived
def carries_nccl(test: LinkTest, view: View) -> bool | None:
    """Do ranks use the tested device over RDMA, with GPUDirect RDMA as far as is shown? None without its name.

    Without GPUDirect RDMA data passes through the host's memory, which may be slower than one queue pair.
    """
    if test.hca is None:
        return None
    ranks = [rank for rank in view.job.ranks if rank.net == "IB" and test.host in {None, rank.host}]
    used = [rank for rank in ranks if any(_names(device.name, test.hca) for device in rank.net_devices or ())]
    return any(all(gdr.enabled is not False for gdr in rank.gdr if _names(gdr.hca, test.hca)) for rank in used)


def _names(device: str | None, hca: str) -> bool:
    """Is it the device, or one that NCCL made of it and others (``mlx5_0+mlx5_1``)?"""
    return hca in (device or "").split("+")
