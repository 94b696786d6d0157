"""Cards that NVSHMEM's IBGDA skips because of their names, though their driver may be the one that it needs."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Hca, Job
from ncdiag.facts.view import View

_SKIPPED = "nvshmem-card-skipped"
_OTHERS = lazy_regex(
    r"(?:bnxt_re|cxi|cxgb|efa|erdma|hfi|hns|i40iw|ionic|irdma|iwp|mana|mlx4|ocrdma|opa|qedr|rdmap|rxe|siw|usnic|vmw_pvrdma|xeth)"
)
"""Names that the drivers of other cards give, and those under which rdma-core lists EFA, iWARP and Omni-Path."""
_MLX5, _NVIDIA = "mlx5", "0x02c9"


@derived_of(_SKIPPED)
def is_skipped_by_name(event: Event, view: View) -> bool:
    """May the skipped card be one of the mlx5 driver under another name, such as ``ibp12s0`` or ``rocep65s0f0``?

    Up to 3.3 the name alone decides, since 3.4 it does first (src/modules/transport/ibgda/ibgda.cpp).
    """
    name = str(event.fields.get("hca", ""))
    if _MLX5 in name or _OTHERS.match(name):
        return False
    card = view.remembered(("card", name), lambda: _card(name, view.job))
    if card is None or (card.driver is None and card.vendor_id is None):
        return True
    view.note(card)
    return (card.driver or "").startswith(_MLX5) or card.vendor_id == _NVIDIA


def _card(name: str, job: Job) -> Hca | None:
    return next((hca for host in job.hosts for hca in host.hcas if hca.name == name), None)


@derived
def letters_of_card(event: Event, view: View) -> str:
    """The letters with which the name of the card begins, ``ibp``, a prefix that selects all cards of this kind."""
    found = re.match(r"[A-Za-z]{1,20}", str(event.fields.get("hca", "")))
    return found[0] if found else ""
