"""Containers of one host that do not see each other's processes."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_DIFFER = "ucx-pid-namespaces-differ"
_REASON = lazy_regex(r"different (?:pid namespaces|PID namespace)\b")


@derived_of(_DIFFER, "ucx-no-transport")
def pid_namespaces_differ(event: Event, view: View) -> bool:
    """Does UCX say that a peer on its host has another PID namespace, or list it as why a transport failed?"""
    return event.event == _DIFFER or _REASON.search(event.text) is not None
