r"""``ip addr``, ``ip link``, their ``-br``, ``-o``, ``-d`` and ``-s`` forms.

Format: iproute2, ip/ipaddress.c (``print_linkinfo``, ``print_addrinfo``, ``print_linkinfo_brief``):
``n: name@parent: <FLAGS>`` with words behind it, then indented ``link/...``, ``inet`` and ``inet6`` lines; ``-o`` glues
the lines of one interface with backslashes and repeats ``n: name`` for each address; ``-br`` has name, state and
addresses in columns.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.basics import number
from ncdiag.parsers._interface import HARDWARE_BUSES, KINDS, LINK_TYPES, Draft

_NAME = r"(?P<name>[^\s:@<]{1,64})(?:@(?P<parent>[^\s:@<]{1,64}))?"
HEADER = lazy_regex(rf"\s*(?P<index>\d{{1,9}}): {_NAME}: <(?P<flags>[\w,-]{{0,300}})>(?P<rest>.*)$")
ONE_LINE = lazy_regex(rf"\s*(?P<index>\d{{1,9}}): {_NAME}\s+(?P<rest>inet6? [0-9a-fA-F.:xX*]+.*)$")
_STATE = "UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT|NOTPRESENT|TESTING"
BRIEF = lazy_regex(rf"\s*{_NAME}\s+(?P<state>{_STATE})(?:\s(?P<rest>.*))?$")
_BRIEF_TAIL = lazy_regex(r"\s*(?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2}){5,19}) <(?P<flags>[\w,-]{0,300})>\s*$")
LABELLED = lazy_regex(
    r"\s+inet \S{7,40} .{0,120}\bscope \w{1,16}(?: \w{1,16}){0,4} (?P<name>[A-Za-z][\w.@-]{0,31}?)(?::\w{1,16})?\s*$"
)
"""An IPv4 address by itself (``ip a | grep inet``): its label at the end is the name of the interface."""
BODY = lazy_regex(r"\s*\**(?:link/\S|inet6? |valid_lft |altname |RX[: ]|TX[: ]|vf \d|promiscuity |alias )")
NOISE = lazy_regex(r"\s*(?:Message truncated|Dump was interrupted)")
_UP = {"UP": True, "UNKNOWN": True, "DORMANT": True, "LOWERLAYERDOWN": True}
_CARRIER = {"UP": True, "DOWN": False, "LOWERLAYERDOWN": False, "NOTPRESENT": False}


def header(line: int, found: re.Match[str]) -> Draft:
    """An interface from its first line; behind ``-o`` the others follow on the same one."""
    draft = Draft(line, found["name"])
    draft.set("ifindex", number(found["index"]))
    draft.set("parent", found["parent"] if found["parent"] != "NONE" else None)
    draft.flags(found["flags"].split(","), "LOWER_UP")
    first, *others = found["rest"].split("\\")
    words = first.split()
    values = dict(zip(words[::2], words[1::2], strict=False))
    draft.set("mtu", number(values.get("mtu", "")))
    draft.set("master", values.get("master"))
    draft.set("operstate", values["state"].lower() if "state" in values else None)
    draft.set("_link_only", True if "mode" in values else None)
    for other in others:
        body(draft, other)
    return draft


def brief(line: int, found: re.Match[str]) -> Draft:
    """A row of ``ip -br``: only a state of DOWN leaves open whether the interface itself or its link is down."""
    draft = Draft(line, found["name"])
    draft.set("parent", found["parent"])
    draft.set("operstate", found["state"].lower())
    link = _BRIEF_TAIL.match(found["rest"] or "")
    if link:
        draft.set("mac", link["mac"] if link["mac"].strip("0:") else None)
        draft.set("_link_only", value=True)
        draft.flags(link["flags"].split(","), "LOWER_UP")
    else:
        draft.set("up", _UP.get(found["state"]))
        draft.set("running", _CARRIER.get(found["state"]))
        words = (found["rest"] or "").split()
        for position, word in enumerate(words):
            if ("." in word or ":" in word) and (position == 0 or words[position - 1] != "peer"):
                _address(draft, ["inet", *words[position : position + 3]])
    draft.body += 1
    return draft


def body(draft: Draft, text: str) -> bool:
    """Take a line below the header; False when it says nothing that ``ip`` prints."""
    words = text.lstrip(" \t*").split()
    if not words:
        return True
    first = words[0]
    if first.startswith("link/"):
        draft.set("kind", LINK_TYPES.get(first[5:]))
        draft.set("mac", words[1] if first in {"link/ether", "link/infiniband"} and len(words) > 1 else None)
    elif first in {"inet", "inet6"}:
        _address(draft, words)
    elif first in KINDS and text[:1].isspace():
        draft.fields["kind"] = draft.fields["kind"] if draft.fields.get("kind") == "ipoib" else KINDS[first]
    elif not BODY.match(text) and not first.endswith("_slave") and not all(word.isdigit() for word in words):
        return False
    _bus(draft, words)
    draft.body += 1
    return True


def _address(draft: Draft, words: list[str]) -> None:
    """``inet 10.0.0.5/24 ...`` or ``inet 10.0.0.5 peer 10.0.0.6/32 ...``: the length is behind the peer then."""
    ip, _, length = (words[1] if len(words) > 1 else "").partition("/")
    peer = None
    if words[2:3] == ["peer"] and len(words) > 3:  # noqa: PLR2004  (inet, address, "peer", its address)
        peer, _, length = words[3].partition("/")
    draft.address(ip, number(length), peer)


def _bus(draft: Draft, words: list[str]) -> None:
    if "parentbus" in words and words[-1] != "parentbus" and words[words.index("parentbus") + 1] in HARDWARE_BUSES:
        draft.set("kind", "physical")
