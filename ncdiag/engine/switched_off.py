"""What somebody says is switched off cannot be what stops the job: ``firewalld is inactive on both``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.results import Reason
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View

_OFF: Mapping[str, str] = {"firewall": "firewall-off", "acs": "acs-off", "iommu": "iommu-off", "mig": "mig-off"}
"""What a rule is about, by the first of its cells, and the state of it in which the rule cannot be the cause."""
_NAMES: Mapping[str, str] = {"firewall": "the firewall"}
_OF_CLOUDS = frozenset({"firewall"})
"""What clouds have besides that of the hosts: security groups."""
_IN_PART = lazy_regex(
    r"\b(?:on|at|of|in)\s(?:the\s)?(?:one|first|second|other|master|head|login|worker|local|some|\d+\sof)\b"
    r"|\b(?:on|at|of)\s(?:the\s)?(?:(?:node|host|machine|server|vm)\s)?[A-Za-z][\w.-]*\d(?![\w-]|[\s,]*(?:and|&|,)\s)"
    r"|\bgpu\s?\d|\bonly\b|第一台|其中一",
    re.IGNORECASE,
)
"""It is off on one host, or on some of them: that says nothing about the rest."""
_IN_ALL = lazy_regex(r"\b(?:all|both|every\w*|each|any\w*|neither)\b|所有|都|两台", re.IGNORECASE)


def said_off(rule: Rule, view: View) -> Reason | None:
    """The lines that say that what the rule is about is off; None if nobody says so, or a cloud may have another."""
    about = rule.cells[0][0] if rule.cells else ""
    state = _OFF.get(about)
    if state is None or (about in _OF_CLOUDS and any(each.kind == "cloud" for each in view.job.contexts)):
        return None
    states = [each for each in view.job.contexts if each.kind == "state"]
    if any(each.value == f"{about}-on" for each in states):
        return None
    said = [each for each in states if each.value == state and not _is_in_part(each.text)]
    lines = tuple(each.provenance[""] for each in said if "" in each.provenance)
    return Reason(f"{_NAMES.get(about, about.upper())} is said to be off", lines) if said else None


def _is_in_part(text: str) -> bool:
    return _IN_PART.search(text) is not None and _IN_ALL.search(text) is None
