"""``ucx_info -d`` and ``ucx_info -v`` of UCX: the transports that it has here, and how it was configured.

Source of the format: openucx/ucx src/tools/info/tl_info.c (``#      Transport: rc_mlx5``) and version_info.c
(``# Configured with: --prefix=/usr ...``). The transport ``self`` is part of every UCX and comes first: a list without
it was cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.formats.basics import is_elision
from ncdiag.formats.shell import pipeline

KIND = "ucx_info"
COMMANDS: tuple[str, ...] = ("ucx_info",)
ANCHOR = r"# {1,8}(?:Memory domain: |Transport: )\w|# (?:UCT|Library) version[:=] ?\d|# Configured with: "

_TRANSPORT = lazy_regex(r"# {1,8}Transport: +(\w{1,32})\s*$")
_CONFIGURED = lazy_regex(r"# [Cc]onfigured with: (.*)$")
_KEEPS_TRANSPORTS = lazy_regex(r"(?i)transport|^tl$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Every line of the output begins with a number sign."""
    return line.startswith("#") or is_elision(line)


def parse(section: Section) -> Parsed:
    """``ucx_transports``, where the whole list is there, and ``ucx_configured``."""
    found: list[Observation] = []
    transports: dict[str, int] = {}
    cut = not _is_whole(section.command)
    for index, line in enumerate(section.lines):
        transport, configured = _TRANSPORT.match(line), _CONFIGURED.match(line)
        if transport:
            transports.setdefault(transport[1], index)
        elif configured:
            found.append(_observation(section, index, ucx_configured=configured[1].strip()))
        elif not line.startswith("#"):
            cut = True
    if not cut and next(iter(transports), None) == "self":
        found.append(_observation(section, transports["self"], ucx_transports=list(transports)))
    return Parsed(observations=tuple(found))


def _is_whole(command: str | None) -> bool:
    """Does the command line let all lines of transports pass?"""
    for stage in pipeline(command)[1:]:
        program, *arguments = stage
        patterns = [word for word in arguments if not word.startswith("-")]
        if program in {"cat", "tee"}:
            continue
        if program not in {"grep", "egrep"} or not any(_KEEPS_TRANSPORTS.search(word) for word in patterns):
            return False
    return True


def _observation(section: Section, index: int, **fields: str | list[str]) -> Observation:
    return Observation(entity="Host", host=section.host, span=section.span(index), fields=dict(fields))
