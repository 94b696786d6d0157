"""Is an output that somebody would ask for in the input already?"""

from __future__ import annotations

import re
from collections.abc import Collection

from ncdiag.parsers import discover
from ncdiag.text.sections.kinds import kinds_of

_ELSEWHERE = "(on "
_BETWEEN = re.compile(r"; | \| ")


def is_given(outputs: str, kinds: Collection[str]) -> bool:
    """Are the outputs of all commands that a request names (``ip addr; ip route``) among the ``kinds`` of sections?

    False where it names no command of a parser, and where it says on which hosts (``ip addr (on every host)``): then it
    is not known.
    """
    if _ELSEWHERE in outputs:
        return False
    of_command = kinds_of(tuple(discover().values())).of_command
    named = {kind for command in _BETWEEN.split(outputs) if (kind := of_command(command))}
    return bool(named) and named <= set(kinds)
