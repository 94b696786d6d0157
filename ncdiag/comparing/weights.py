"""The weight of a difference: from the table of items, and for variables from the table of NCCL's variables."""

from __future__ import annotations

from typing import NamedTuple

from ncdiag.base.severity import Weight
from ncdiag.comparing.values import Subject
from ncdiag.nccl import environment

ORDER: dict[Weight, int] = {"high": 0, "medium": 1, "low": 2}
_VARIABLES = frozenset({"settings", "conf_settings"})


class Importance(NamedTuple):
    """The weight of a difference, and the reason."""

    weight: Weight
    why: str


def importance(subject: Subject) -> Importance:
    """The weight of a difference in ``subject``."""
    item = subject.item
    if item.read in _VARIABLES:
        known = environment.variables().get(subject.name)
        must = environment.must_agree(subject.name, between_hosts=True)
        if must:
            return Importance("high", known.agree_why if known is not None else item.why)
        if must is False:
            return Importance("low", "Ranks may have different values of it.")
    return Importance(item.weight, item.why)
