"""Determine whether a requested output is already in the input, and where."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import discover
from ncdiag.text.sections.kinds import kinds_of

_ELSEWHERE = lazy_regex(r"\(on (?!one host|the host\)|that host)")
"""Words of a request for the outputs of several hosts, or of another one."""
_BETWEEN = lazy_regex(r"; | \| ")


def is_given(outputs: str, kinds: Collection[str], *, alone: bool = False) -> bool:
    """True if the outputs of all commands in a request (``ip addr; ip route``) are among the ``kinds`` of sections.

    False if it names no command of a parser, or says on which hosts (``ip addr (on every host)``): then it is unknown,
    unless the input is of one host ``alone``.
    """
    return (alone or not _ELSEWHERE.search(outputs)) and bool(named := _asked(outputs)) and named <= set(kinds)


def place_of(outputs: str, places: Mapping[str, str], *, alone: bool) -> str:
    """Where the first of these outputs is in the input, ``a.txt:4``, if all of them are given; else empty.

    ``places``: by kind, the place of its first section.
    """
    if not is_given(outputs, places.keys(), alone=alone):
        return ""
    return min(places[kind] for kind in _asked(outputs))


def _asked(outputs: str) -> set[str]:
    of_command = kinds_of(tuple(discover().values())).of_command
    return {kind for command in _BETWEEN.split(outputs) if (kind := of_command(command))}
