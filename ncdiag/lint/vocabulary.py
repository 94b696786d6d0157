"""Which names lint looks at: those of NCCL and its neighbours, and those that were probably meant to be."""

from __future__ import annotations

import re

from ncdiag.formats.shell import is_kept, is_secret
from ncdiag.nccl import environment

_SHAPE = re.compile(r"[A-Za-z_]\w{2,100}$")


def is_setting(name: str) -> bool:
    """True if lint has anything to say of variables with this name. Secrets never are looked at."""
    if not _SHAPE.match(name) or is_secret(name):
        return False
    return is_kept(name) or name in environment.variables() or bool(environment.suggest(name))
