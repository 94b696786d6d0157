"""Networks of pods that the kernel refuses because of the interface under them."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import likely_kind


@derived_of("k8s-macvlan-refused")
def is_macvlan_on_infiniband(event: Event, view: View) -> bool:
    """Can the interface under a refused macvlan be one of InfiniBand? Not if no listed node has any."""
    named = view.host(event.host)
    shown = [host for host in (view.job.hosts if named is None else (named,)) if is_closed(host, "interfaces")]
    return not shown or any(likely_kind(each, view) == "ipoib" for host in shown for each in host.interfaces)
