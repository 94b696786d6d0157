"""Where the ranks of a job meet, as an argument or a log line gives it, whatever program is started with it.

Launchers pass the place on inside of long lines (``bash -c "... --master_addr=... "``), and print it when they start.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import ip_address
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {"meeting-place-odd": {"given": "str"}, "meeting-place-given": {"given": "str"}}
"""Events that are told by the form of a line, and the types of their fields."""
_LOOKED_AT = 4096
_SIGNS = Signs(
    "master_addr", "master-addr", "main_process_ip", "rdzv", "init_method", "dist_url", "init_addr", "init-addr"
)
_NAMES = r"(?:master[_-]addr|main_process_ip|rdzv[_-]endpoint|dist[_-]init[_-]addr|init[_-]method|dist[_-]url)"
_GIVEN = lazy_regex(rf"(?i){_NAMES}['\"]?\s?[=: ]\s?['\"]?(?:tcp://)?(?P<ip>\d{{1,3}}(?:\.\d{{1,3}}){{3}})\b")
_ODD = lazy_regex(
    r"(?i)(?<![\w.])-{1,2}(?:master[_-]addr|main_process_ip|dist[_-]init[_-]addr)[= ](?P<path>/\w\S{2,200})"
)
"""A path in place of an address."""


def find(text: str) -> Found | None:
    """The place where the ranks meet, or a path that is given for it; None for other lines."""
    if not _SIGNS.stand_in(text):
        return None
    text = text[:_LOOKED_AT]
    if odd := _ODD.search(text):
        return Found("meeting-place-odd", "launcher", "fact", {"given": odd["path"]})
    given = _GIVEN.search(text)
    if given is None or ip_address(given["ip"]) is None:
        return None
    return Found("meeting-place-given", "launcher", "fact", {"given": given["ip"]})
