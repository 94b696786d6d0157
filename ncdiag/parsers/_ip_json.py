"""``ip -j addr`` and ``ip -j link``, on one line or pretty (``-p``, jq), whole or cut off.

Format: iproute2, the json half of ip/ipaddress.c: a list of objects with ``ifname``, ``flags``, ``mtu``, ``operstate``,
``link_type``, ``addr_info`` and, with ``-d``, ``linkinfo.info_kind``. The objects are decoded one by one, so that what
comes before the cut is read.
"""

from __future__ import annotations

import json
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import decoded
from ncdiag.parsers._interface import HARDWARE_BUSES, KINDS, LINK_TYPES, Draft

_OF_RDMA = r"\"ifname\":\s*\"[^\"]{1,64}\",\s*\"(?:port|node_type)\""
ANCHOR = rf"\[\s*\{{\s*\"ifindex\":\s*\d+,(?!\s*{_OF_RDMA})|\[\s*\{{\s*\"ifindex\":\s*$"
ANCHOR += r"|\[ \{\s*$|\"ifindex\":\s*\d+,\s*$"
_RDMA = lazy_regex(_OF_RDMA)
_START = lazy_regex(r"\s*(?:\[\s*(?:\{|$)|\"ifindex\")")
_JSON_LINE = lazy_regex(
    r"\s*(?:[{}\]][\s,\[\]{}]*$|\[\s*(?:[\"{\]]|$)|\"[^\"]*\"\s*(?:[:,]|$)"
    r"|(?:-?[\d.]+|true|false|null),?\s*$)"
)
_LAST = lazy_regex(r"(?:\]|\s{0,4}\} ?\])\s*$")
_BETWEEN = lazy_regex(r"[\s,]*")
_TEXT_LIMIT = 8 << 20


def starts(line: str) -> bool:
    """The first line of such a list, or of what is left of it."""
    return _START.match(line) is not None


def is_rdma(text: str) -> bool:
    """Is it what ``rdma -j`` prints, whose pretty form begins alike?"""
    return _RDMA.search(text[:4096]) is not None


def continues(first: str, last: str, line: str) -> bool:
    """A line of JSON, as long as the last one did not close the list (untold where its first bracket is missing)."""
    closed = not first.lstrip().startswith('"') and (_LAST.match(last) or last.rstrip().endswith("}]"))
    return not closed and _JSON_LINE.match(line) is not None


def read(section: Section) -> tuple[list[Draft], bool]:
    """The interfaces, and whether the list was read to its end."""
    text = section.text
    if len(text) > _TEXT_LIMIT:
        return [], False
    begin = text.find("[")
    if begin < 0 or text.find('"ifindex"', 0, begin) >= 0:  # the line with the brackets was left out of the paste
        text, begin = "[{" + text, 0
    drafts: list[Draft] = []
    decoder, position = json.JSONDecoder(), begin + 1
    newlines, counted = 0, 0
    while True:
        position = _end(text, position)
        if text[position : position + 1] != "{":
            return drafts, text[position : position + 1] == "]"
        newlines += text.count("\n", counted, position)
        counted = position
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return drafts, False
        draft = _draft(min(newlines, len(section.lines) - 1), value)
        if draft is not None:
            drafts.append(draft)


def _end(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position


def _draft(line: int, value: dict[str, Any]) -> Draft | None:
    name = value.get("ifname")
    if not isinstance(name, str) or not name or not {"flags", "addr_info"} & value.keys():
        return None  # the RDMA devices of ``rdma -j`` have an ifname as well
    draft = Draft(line, name, body=1)
    get = value.get
    draft.set("ifindex", _whole(get("ifindex")))
    draft.set("mtu", _whole(get("mtu")))
    draft.set("master", decoded.text(get("master")))
    draft.set("mac", decoded.text(get("address")) if get("link_type") in {"ether", "infiniband"} else None)
    state = decoded.text(get("operstate"))
    draft.set("operstate", state.lower() if state else None)
    index = _whole(get("link_index"))
    draft.set("parent", decoded.text(get("link")) or (f"if{index}" if index else None))
    flags = get("flags")
    if isinstance(flags, list):
        draft.flags(filter(None, map(decoded.text, flags)), "LOWER_UP")
    _kind(draft, value)
    addresses = get("addr_info")
    if isinstance(addresses, list):
        draft.addresses = []
        for entry in addresses:
            if isinstance(entry, dict) and entry.get("local") is not None:
                draft.address(str(entry["local"]), _whole(entry.get("prefixlen")), decoded.text(entry.get("address")))
    return draft


def _kind(draft: Draft, value: dict[str, Any]) -> None:
    info = value.get("linkinfo")
    told = KINDS.get(str(info.get("info_kind"))) if isinstance(info, dict) else None
    draft.set("kind", LINK_TYPES.get(str(value.get("link_type"))) or told)
    if value.get("parentbus") in HARDWARE_BUSES:
        draft.set("kind", "physical")


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
