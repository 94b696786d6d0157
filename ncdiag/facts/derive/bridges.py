"""Addresses of Docker's default bridge among those that are announced."""

from __future__ import annotations

from ncdiag.facts.model import Advertised
from ncdiag.facts.view import View, derived


@derived
def on_docker_bridge(advertised: Advertised, view: View) -> bool:
    """Is it docker0, or an address that nobody could connect to and of whose interface nothing is known?

    A site may number its hosts in 172.17.0.0/16: an interface of another name that was not in the way is one of those.
    """
    if advertised.interface is not None:
        return advertised.interface.startswith("docker")
    return bool(advertised.failed)
