"""Ports of the network that admit only interfaces that prove who they are."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_WIRELESS = lazy_regex(r"(?:wl|ath|wifi)[\w.-]{1,20}")
"""Names of wireless interfaces, as systemd (wlan0, wlp2s0, wlx and the MAC address) and their drivers give them."""


@derived_of("port-not-authenticated")
def is_on_wireless(event: Event, view: View) -> bool:
    """Is the interface that did not prove who it is a wireless one, which carries no traffic of a job?"""
    return _WIRELESS.fullmatch(str(event.fields.get("interface", ""))) is not None
