"""Hosts without a name that a label above their outputs describes: ``bad-node`` for ``Bad node:``."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex

GOOD = "good|working|healthy|fine|fast|normal|ok"
BAD = "bad|broken|failing|faulty|slow|problem(?:atic)?|affected|hanging|unhealthy|suspect"
MACHINES = "node|host|machine|server|pod|worker|vm|instance"
_CALLED_BAD = lazy_regex(rf"(?:{BAD})-(?:{MACHINES})")


def name_of(word: str, machine: str) -> str:
    """The name of a host that a label describes by a word such as ``Bad`` and what it is."""
    return f"{word.lower()}-{machine.lower()}"


def is_called_bad(name: str) -> bool:
    """True for the name of a host that a label describes as the one with the trouble."""
    return _CALLED_BAD.fullmatch(name) is not None
