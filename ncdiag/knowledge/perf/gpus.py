"""GPUs that are held back by a setting."""

from __future__ import annotations

from ncdiag.base.products import product_of
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Gpu
from ncdiag.facts.view import View

_CAPPED = 0.9
"""The share of its usual power limit below which a GPU is said to be capped."""


@derived
def is_capped(gpu: Gpu, view: View) -> bool | None:
    """Is its power limit lower than that of another GPU of its model in the job, or than its model's?

    None where its limit or its model is not known.
    """
    limit, model = gpu.power_limit_watts, gpu.model
    if limit is None or model is None:
        return None
    product = product_of(model)
    others = (other for host in view.job.hosts for other in host.gpus if other.model == model)
    usual = [other.power_limit_watts or 0 for other in others] + [(product and product.watts) or 0]
    view.note(gpu, "power_limit_watts")
    return limit < _CAPPED * max(usual)
