"""Whether ranks may use different values of a variable, by the book."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model import Difference
from ncdiag.facts.view import View, derived
from ncdiag.nccl import environment
from ncdiag.nccl.environment import OURS

_LIBRARIES = frozenset({OURS, "rccl", "hccl", "ofi-nccl", "nccl-plugin", "libfabric", "ucx", "nvshmem", "lightcc"})
"""Programs whose ranks talk to each other as their variables say; launchers give each rank values of its own."""


@derived
def agreement(difference: Difference, view: View) -> Literal["required", "not required", "not known", "no variable"]:
    """Whether the ranks have to agree on the variable that differs; versions and networks have rules of their own."""
    known = environment.variables().get(difference.name)
    if difference.what != "setting" or known is None or known.owner not in _LIBRARIES:
        return "no variable"
    for span in difference.provenance:
        view.note(difference, span)
    must = environment.must_agree(known.name, between_hosts=not _differs_on_a_host(known.name, view))
    return "not known" if must is None else "required" if must else "not required"


def _differs_on_a_host(name: str, view: View) -> bool:
    """True if ranks of one host told different values of the variable."""
    told = ({s.text for r in view.ranks_on(h.name) if (s := r.settings.get(name)) is not None} for h in view.job.hosts)
    return any(len(values) > 1 for values in told)


@derived
def agreement_why(difference: Difference, view: View) -> str:
    """Why the ranks have to agree on the variable; nothing where the book gives no reason."""
    del view
    known = environment.variables().get(difference.name)
    return known.agree_why if known is not None else ""
