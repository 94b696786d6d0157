"""Where the ranks of a job meet, as an argument or a log line gives it, whatever program is started with it.

Launchers pass the place on inside of long lines (``bash -c "... --master_addr=... "``), and print it when they start.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import ip_address
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {
    "meeting-place-odd": {"given": "str"}, "meeting-place-unread": {}, "meeting-place-given": {"given": "str"},
    "meeting-place-asked": {"variable": "str", "asked": "str"},
}  # fmt: skip
"""Events that are told by the form of a line, and the types of their fields."""
_LOOKED_AT = 4096
_SIGNS = Signs(
    "master_addr",
    "master-addr",
    "main_process_ip",
    "rdzv",
    "init_method",
    "dist_url",
    "init_addr",
    "init-addr",
    "hostname -i",
    "hostname --ip-address",
    "hostname --all-ip-addresses",
    "using ip address of",
)
_NAMES = r"(?:master[_-]addr|main_process_ip|rdzv[_-]endpoint|dist[_-]init[_-]addr|init[_-]method|dist[_-]url)"
_GIVEN = lazy_regex(rf"(?i){_NAMES}['\"]?\s?[=: ]\s?['\"]?(?:tcp://)?(?P<ip>\d{{1,3}}(?:\.\d{{1,3}}){{3}})\b")
_ODD = guarded_regex(
    r"(?i)(?<![\w.])-{1,2}(?:master[_-]addr|main_process_ip|dist[_-]init[_-]addr)(?:[= ](?P<path>/\w\S{2,200})"
    r"|=(?=[\"']?(?:\s+-{1,2}\w|$)))"
)
"""A path in place of an address, or nothing."""
_UNREAD = guarded_regex(
    r"\bUsing IP address of(?:\s{1,4}"
    r"| (?!\d{1,3}(?:\.\d{1,3}){3} |[0-9A-Fa-f:.]{0,45}:[0-9A-Fa-f:.]{0,45} )\S{1,200} )for node\b"
)
"""The answer of the first host, which deepspeed/launcher/runner.py asks for its address through ssh: none, or a word
that its shell printed first."""
_ASKED = lazy_regex(
    r"(?i)\s{0,40}(?:export\s)?(?P<variable>\w{0,40}(?:addr|ip|host|master|head|node)\w{0,40})=[\"']?(?:\$\(|`)[^\n]{0,400}?"
    r"(?P<asked>\bhostname\s(?:-[iI]|--ip-address|--all-ip-addresses))\b"
)
"""A shell's variable for an address that a host is asked for by its own name."""


def find(text: str) -> Found | None:
    """The place where the ranks meet, a path that is given for it, or how it is asked for; None for other lines."""
    if not _SIGNS.stand_in(text):
        return None
    text = text[:_LOOKED_AT]
    if _UNREAD.search(text):
        return Found("meeting-place-unread", "launcher", "fact", {})
    if odd := _ODD.search(text):
        return Found("meeting-place-odd", "launcher", "fact", {"given": odd["path"] or ""})
    if asked := _ASKED.match(text):
        return Found("meeting-place-asked", "launcher", "fact", asked.groupdict())
    given = _GIVEN.search(text)
    if given is None or ip_address(given["ip"]) is None:
        return None
    return Found("meeting-place-given", "launcher", "fact", {"given": given["ip"]})
