"""Whose an address is, as people tell it beside a log: ``fe80::4c2%13 is that of a veth``.

Logs name addresses alone; who looks them up on the host finds the interface and writes it down in a sentence.
"""

from __future__ import annotations

import re

from ncdiag.facts.scalars import ip_address
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {"virtual-address-told": {"address": "ip", "owner": "str"}}
"""Events that are told by the form of a sentence, and the types of their fields."""

_LOOKED_AT = 600
_SIGNS = Signs("veth", "virbr", "docker0", "br-", "cni0", "flannel", "tailscale", "virtual", "虚拟")
_OWNED = guarded_regex(
    r"(?<![0-9a-z.])(?P<address>[0-9a-f]{1,4}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})(?:%[\w.-]{1,32})?(?:<\d{1,5}>)?"
    r"[\"'`)\uff09]{0,2}\s?(?:是|属于|为|\b(?:is|was|belongs\sto|comes\sfrom)\b)\s?"
    r"(?:(?:the\saddress\sof\s|that\sof\s|on\s)?(?:an?\s|the\s|one\sof\s(?:the\s)?)?|一个|某个)"
    r"(?P<owner>veth[0-9a-z_]{0,16}|virbr\d{0,3}|docker0|br-\w{1,16}|cni0|flannel[\w.]{0,8}|tailscale\d?|virtual|虚拟)",
    re.IGNORECASE,
)


def find(text: str) -> Found | None:
    """The address of a virtual interface that a sentence tells of; None for other lines."""
    if not _SIGNS.stand_in(text):
        return None
    found = _OWNED.search(text[:_LOOKED_AT])
    if found is None or ip_address(found["address"]) is None:
        return None
    return Found("virtual-address-told", "app", "fact", {"address": found["address"].lower(), "owner": found["owner"]})
