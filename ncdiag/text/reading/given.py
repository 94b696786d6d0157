"""Determine whether a requested output is already in the input."""

from __future__ import annotations

import re
from collections.abc import Collection

from ncdiag.parsers import discover
from ncdiag.text.sections.kinds import kinds_of

_ELSEWHERE = "(on "
_BETWEEN = re.compile(r"; | \| ")


def is_given(outputs: str, kinds: Collection[str]) -> bool:
    """True if the outputs of all commands in a request (``ip addr; ip route``) are among the ``kinds`` of sections.

    False if it names no command of a parser, or says on which hosts (``ip addr (on every host)``): then it is unknown.
    """
    if _ELSEWHERE in outputs:
        return False
    of_command = kinds_of(tuple(discover().values())).of_command
    named = {kind for command in _BETWEEN.split(outputs) if (kind := of_command(command))}
    return bool(named) and named <= set(kinds)
