"""What somebody says is switched off cannot be what stops the job: ``firewalld is inactive on both``."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.engine.results import Reason
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View

_OFF: Mapping[str, str] = {"firewall": "firewall-off", "acs": "acs-off", "iommu": "iommu-off", "mig": "mig-off"}
"""What a rule is about, by the first of its cells, and the state of it in which the rule cannot be the cause."""
_NAMES: Mapping[str, str] = {"firewall": "the firewall"}
_OF_CLOUDS = frozenset({"firewall"})
"""What clouds have besides that of the hosts: security groups."""


def said_off(rule: Rule, view: View) -> Reason | None:
    """The lines that say that what the rule is about is off; None if nobody says so, or a cloud may have another."""
    about = rule.cells[0][0] if rule.cells else ""
    state = _OFF.get(about)
    if state is None or (about in _OF_CLOUDS and any(each.kind == "cloud" for each in view.job.contexts)):
        return None
    states = [each for each in view.job.contexts if each.kind == "state"]
    if any(each.value == f"{about}-on" for each in states):
        return None
    said = [each for each in states if each.value == state and not each.in_part]
    lines = tuple(each.provenance[""] for each in said if "" in each.provenance)
    return Reason(f"{_NAMES.get(about, about.upper())} is said to be off", lines) if said else None
