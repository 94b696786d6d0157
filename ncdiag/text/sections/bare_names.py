"""A name alone on a line above the output of a command, ``mu01:``: the host that printed it.

Words that number anything else are none: only the output below tells a name from ``step1:``, and such words are above
outputs as well.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import Parser
from ncdiag.text.sections.prompt import NO_HOST, short_host

_BARE_LABEL = lazy_regex(r"[\s#*_>`]{0,8}(?P<host>[A-Za-z]{2,24}[A-Za-z-]{0,24}\d{1,4})[`*_]{0,3}\s?:[*_`\s]{0,4}$")
_NO_MACHINE = lazy_regex(
    r"(?:conf\w*|set-?up|exp\w*|scenario|variant|method|trial|version|v|ver|log|out\w*|result|example|table|list|group"
    r"|cluster|site|image|build|branch|commit|level|mode|type|kind|size|batch|node-?rank|local-?rank|world|dim|axis"
    r"|socket|numa|core|cpu|slot|switch|rail|plane|hca|roce\w*|irdma\w*|wlan|lan|vlan|net|iface|interface|if|lo|tun|tap"
    r"|dev|disk|sda|cu1[0-3]|rocm|nccl|torch|python|py|ubuntu|rhel|centos|debian|ofed|gb|mi|rtx|ll|sm|tp|pp|dp|ep|cp"
    r"|fp|bf|int|top|q)-?\d+",
    re.IGNORECASE,
)
"""More words with a number that name no machine, where a name stands alone."""


_OF_RUNS = frozenset({"env", "nccl_tests", "all_reduce_bench"})
"""Kinds whose heading rather names a run than a machine: ``tuned2:`` above variables or a table of rates."""


def may_be_above(parser: Parser) -> bool:
    """True if such a name above a section of this kind is that of its host: above the output of a command."""
    return bool(parser.commands) and not parser.launched and parser.kind not in _OF_RUNS


def host_of(line: str) -> str | None:
    """The host of ``mu01:``, a name alone above the output of a command; a word that numbers other things is none."""
    found = _BARE_LABEL.match(line)
    name = found["host"] if found else ""
    return short_host(name) if name and not NO_HOST.fullmatch(name) and not _NO_MACHINE.fullmatch(name) else None
