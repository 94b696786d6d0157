"""States that people name: ``one NVLink is down``, ``GDR is not enabled``, ``IOMMU off in the BIOS``.

A state is a thing and what it is said to be: on, off, or down. What is asked, wished, tried or heard says nothing, and
``not`` turns it round.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import holds, segments, split_question, without_quotes


class _Thing(NamedTuple):
    """A thing: the word for it in values, its names, and the word of each state that it may have.

    ``less`` are words that say less: what is installed need not be loaded. ``also_on`` has further words for the state
    on, as a pattern that begins with ``|``.
    """

    value: str
    names: str
    on: str
    off: str
    less: tuple[str, ...] = ()
    also_on: str = ""


_THINGS = (
    _Thing("gdr", r"gpu\s?direct(?:\srdma)?|gdr|gdrdma", "on", "off"),
    _Thing("iommu", r"(?:the\s)?(?:iommu|vt-d|amd-vi)", "on", "off"),
    _Thing("acs", r"(?:pcie?\s)?acs|srcvalid", "on", "off"),
    _Thing("firewall", r"(?:the\s)?(?:firewall(?:d)?|iptables|ufw|防火墙)", "on", "off"),
    _Thing("selinux", r"selinux", "on", "off"),
    _Thing(
        "peermem",
        r"nvidia[-_]peermem|nv_peer_mem(?:ory)?",
        "loaded",
        "missing",
        ("installed", "enabled", "used", "set up"),
    ),
    _Thing("fabric-manager", r"(?:the\s)?(?:nvidia[-\s])?fabric\s?-?manager", "on", "off"),
    _Thing("p2p", r"(?:gpu\s)?(?:p2p|peer[-\s]to[-\s]peer(?:\saccess)?)", "on", "off"),
    _Thing("mig", r"mig(?:\smode)?", "on", "off"),
    _Thing("nvlink", r"(?:(?:one|an|the|all|some|two)\s)?(?:of\sthe\s)?nvlinks?", "up", "down"),
    _Thing("ib-link", r"(?:(?:one|an|the|all|some|two)\s)?(?:ib|infiniband|rdma)\s(?:links?|ports?)", "up", "down"),
    _Thing("pfc", r"pfc(?:/ecn)?|priority\sflow\scontrol", "on", "off", also_on="|configured"),
    _Thing("numa-balancing", r"(?:automatic\s)?numa\sbalancing", "on", "off"),
)
_BE = (
    r"(?:\s?[:=]\s?|\s(?:is|are|has\sbeen|have\sbeen|stays|shows\sas)"
    r"\s(?:(?:already|now|still|currently|also|both|fully|indeed)\s)?|\s|\s?\()"
)
_ON = (
    r"(?:enabled|on(?!\s(?:page|the|an?|my|our|all|both|each|every|line|node|host|\w+\sside)\b)|active|running|loaded"
    r"|installed|in\suse|up|used|set\sup|started|inserted)"
)
_OFF = r"(?:disabled|off|inactive|stopped|unloaded|missing|down|broken|degraded|unavailable|absent|permissive)"
_IN_CHINESE = (
    r"\s?(?:都|全部?|已经|已|也|是)*(?P<never>没有?|未)?"
    r"(?:(?P<opened>开启|开着|打开|开了|启用|加载|激活)|(?P<closed>关闭|关掉|关了|禁用|关的))"
)
_NOT = r"(?P<not>not\s(?:yet\s)?(?:been\s)?(?:get\s)?)?"
_SAID = {
    thing.value: lazy_regex(
        rf"(?<![\w/-])(?:{thing.names})(?:{_IN_CHINESE}"
        rf"|(?:\s(?:kernel\s)?(?:modules?|support|service|daemon))?(?P<plus>[+-](?!\w))?"
        rf"(?:{_BE}{_NOT}(?:(?P<on>{_ON}{thing.also_on})|(?P<off>{_OFF}))(?![\w-])|(?<=[+-])))"
        rf"|\b(?:(?P<made>enabled|turned\son|loaded|started|installed|activated)"
        rf"|(?P<unmade>disabled|turned\soff|switched\soff|stopped|unloaded|removed))\s(?:the\s)?(?:{thing.names})(?![\w/-])",
        re.IGNORECASE,
    )
    for thing in _THINGS
}
_NEEDED = lazy_regex(
    r"enabl|disabl|\bon\b|off|activ|runn|load|install|in\suse|\bup\b|down|stop|miss|broken|start|srcvalid|configured"
    r"|[关开]|启用|禁用|加载|激活",
    re.IGNORECASE,
)
_NAMED = lazy_regex("|".join(f"(?P<t{number}>{thing.names})" for number, thing in enumerate(_THINGS)), re.IGNORECASE)
"""Asked before the patterns of the things, which are long: most sentences name none."""
_NOT_SO = lazy_regex(
    r"\b(?:if|unless|until|make\ssure|check|whether|should|must|can|could|would|need)\b(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_TRIED = lazy_regex(
    r"\b(?:when(?:ever)?|after|with|without|even|tr(?:y|ied)|by|once)\b(?:\W+\w+){0,4}\W*$", re.IGNORECASE
)
"""What says that a thing was turned on or off for a trial; nobody takes a link down for one."""
_PARTLY = lazy_regex(
    r"[ \t,]*(?:(?:\w+\s){0,5}(?:only|the\sother)\b|on\s(?:one|some|node|host|machine|server)\b)", re.IGNORECASE
)
"""What may follow a state that only some of the machines have."""
_BUT_NOT = lazy_regex(r"\bbut\snot\s(?:on|at|in|for|with)\b", re.IGNORECASE)
"""Words that say that other machines do not have the state."""
_IN_PART = lazy_regex(
    r"\b(?:on|at|of|in)\s(?:the\s)?(?:one|first|second|other|master|head|login|worker|local|some|\d+\sof)\b"
    r"|\b(?:on|at|of)\s(?:the\s)?(?:(?:node|host|machine|server|vm)\s)?[A-Za-z][\w.-]*\d(?![\w-]|[\s,]*(?:and|&|,)\s)"
    r"|\bgpu\s?\d|\bonly\b|第一台|其中一",
    re.IGNORECASE,
)
"""It is off on one host, or on some of them: that says nothing about the rest."""
_IN_ALL = lazy_regex(r"\b(?:all|both|every\w*|each|any\w*|neither)\b|所有|都|两台", re.IGNORECASE)
_AFTER_ACT = lazy_regex(r"\s?(?:的话|[之以]?后|时|没有?\b|吗|失败|不了)")
"""What follows in Chinese if a change was a trial whose result is reported, or if the state is only assumed."""
_MAYBE = lazy_regex(r"(?:之前|以前|原来|怀疑|可能|也许)[^,，。;；]{0,8}$")
_THEN = lazy_regex(r"\b(?:and|now|then|so|fix\w*|help\w*|solve\w*|gone|since)\b", re.IGNORECASE)
"""What may follow an act whose result is told: it is a trial then."""
_NONE = lazy_regex(r"\b(?:no|none\sof\sthe|neither)\s(?:\w+\s)?[\"'`]?$", re.IGNORECASE)
_LISTED = lazy_regex(
    r"(?:^|[,;:(]\s?|\band\s)(?:(?P<pt>(?:amd_|intel_)?iommu\s?=\s?pt)|(?P<balancing>(?:kernel\.)?numa_balancing\s?=\s?0))"
    r"(?:\s(?:is\s)?(?:already\s)?(?:on|set|there|in\splace))?(?=\s*(?:[,.;)]|$))",
    re.IGNORECASE,
)
"""Settings as people list what they have done: ``ACS off, iommu=pt, numa_balancing=0.``"""
_OF_LISTED = {"pt": "iommu-pt", "balancing": "numa-balancing-off"}
_UNDER = lazy_regex(r"\b(?P<off>disabled|off)\b[^:]{0,40}:\W*$|\b(?P<on>enabled|on)\b[^:]{0,40}:\W*$", re.IGNORECASE)
"""The heading of a list of things in one state: ``These are disabled in the BIOS:``."""


def read(sentence: str) -> list[str]:
    """The states that the sentence states, each once."""
    listed = _listed(sentence) if "=" in sentence else []
    return list(dict.fromkeys([*_stated(sentence), *listed]))


def is_in_part(sentence: str) -> bool:
    """True if the sentence says it of one host or of some, and not of all: ``on n1``, ``on the login node``."""
    return _IN_PART.search(sentence) is not None and _IN_ALL.search(sentence) is None


def _listed(sentence: str) -> list[str]:
    said, asked = split_question(without_quotes(sentence))
    return [] if asked else [_OF_LISTED[found.lastgroup or ""] for found in _LISTED.finditer(said)]


def _stated(sentence: str) -> list[str]:
    if not _NEEDED.search(sentence):
        return []
    named = {found.lastgroup for found in _NAMED.finditer(sentence)}
    things = [thing for number, thing in enumerate(_THINGS) if f"t{number}" in named]
    if not things:
        return []
    said, asked = split_question(without_quotes(sentence))
    if asked or _BUT_NOT.search(said):
        return []
    found: list[str] = []
    for _, part in segments(said):
        if holds(part):
            found += [state for thing in things if (state := _state(thing, part))]
    return found


def _state(thing: _Thing, text: str) -> str:
    for match in _SAID[thing.value].finditer(text):
        before = text[: match.start()]
        if _NOT_SO.search(before) or (thing.on != "up" and _TRIED.search(before)):
            continue
        if _PARTLY.match(text, match.end()) and not (thing.on == "up" and match["off"]):
            continue
        if match["opened"] or match["closed"]:
            if _AFTER_ACT.match(text, match.end()) or _MAYBE.search(before):
                continue
            is_on = bool(match["opened"]) is not bool(match["never"])
        elif match["plus"]:
            is_on = match["plus"] == "+"
        elif match["made"] or match["unmade"]:
            if (match["made"] or "").lower() in thing.less or _THEN.search(text, match.end()):
                continue
            is_on = bool(match["made"])
        else:
            if match["on"] and match["on"].lower() in thing.less:
                continue
            is_on = bool(match["on"]) is not bool(match["not"])
        is_on = is_on and _NONE.search(text[: match.start()]) is None
        return f"{thing.value}-{thing.on if is_on else thing.off}"
    return ""


class Listing:
    """Reads lists of things below a line that says their state."""

    def __init__(self) -> None:
        """No list was begun."""
        self._on: bool | None = None

    def read(self, line: str) -> list[str]:
        """The state of the thing that a line of the list names alone."""
        head = _UNDER.search(line)
        if head is not None and holds(line):
            self._on = head["on"] is not None
            return []
        if self._on is None:
            return []
        item = re.fullmatch(r"\s*[-*\u2022]\s*(.{2,40}?)\W*", line)
        if item is None:
            self._on = None if line.strip() else self._on
            return []
        return [
            f"{thing.value}-{thing.on if self._on else thing.off}"
            for thing in _THINGS
            if re.fullmatch(thing.names, item[1], re.IGNORECASE)
        ]
