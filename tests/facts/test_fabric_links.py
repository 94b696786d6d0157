"""The links of the fabric, judged from several lists of it: one tool shows rates, another one counts errors."""

from __future__ import annotations

from ncdiag.diagnose import view_of
from ncdiag.facts.model import Fabric, FabricLink, FabricNode, Job
from ncdiag.knowledge.ib.fabric import fabric_link_errors, fabric_links_below


def _fabric(link: FabricLink) -> Fabric:
    return Fabric(nodes=(FabricNode(kind="switch", guid="0" * 15 + "1", name="leaf", links=(link,)),))


RATES = _fabric(FabricLink(port=7, peer_name="n1 mlx5_0", peer_port=1, could_be="Could be 4X", state="active"))
ERRORS = _fabric(FabricLink(port=7, peer_name="n1 mlx5_0", peer_port=1, errors={"SymbolErrorCounter": 4021}))


def test_errors_and_rates_count_in_either_order() -> None:
    for fabrics in ((RATES, ERRORS), (ERRORS, RATES)):
        job = Job(fabrics=fabrics)
        view = view_of(job)
        assert fabric_links_below(job, view) == "leaf port 7 to n1 mlx5_0 port 1 (could be 4X)"
        assert fabric_link_errors(job, view) == "leaf port 7 to n1 mlx5_0 port 1 (SymbolErrorCounter 4021)"


def test_a_list_that_is_shown_twice_counts_once() -> None:
    job = Job(fabrics=(ERRORS, ERRORS))
    assert fabric_link_errors(job, view_of(job)) == "leaf port 7 to n1 mlx5_0 port 1 (SymbolErrorCounter 4021)"
