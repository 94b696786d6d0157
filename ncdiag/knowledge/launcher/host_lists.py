"""Lists of hosts on launch lines that the launcher reads in another way than they were meant."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View

_SEVERAL = r"[\w.-]+(?::\d{1,4})?(?:\s*[;\s|]\s*[\w.-]+(?::\d{1,4})?)+"
"""Hosts in one word of the list, with another separator than a comma."""


@derived
def hosts_out_of_list(launch: Launch, view: View) -> str:
    """The hosts that are not part of the list because no comma separates them, ``n2:8, n3:8``; empty for none."""
    found = [*launch.hosts_apart, *(word for word in launch.hosts_unread if re.fullmatch(_SEVERAL, word))]
    if found:
        view.note(launch)
    return ", ".join(found)


@derived
def list_with_commas(launch: Launch, view: View) -> str:
    """The list of hosts with commas, ``n1:8,n2:8``."""
    first = [host.name if host.slots is None else f"{host.name}:{host.slots}" for host in launch.hosts]
    joined = [word for word in launch.hosts_unread if re.fullmatch(_SEVERAL, word)]
    apart = [name for word in joined for name in re.split(r"[;\s|]+", word)]
    return ",".join([*first, *launch.hosts_apart, *apart])
