"""Network interfaces and their addresses, as ``ip addr``, ``ip link`` or ``ifconfig`` show them, in all their layouts.

One module a layout does the reading: `_ip_text`, `_ip_json`, `_ifconfig` (with the table of ``ifconfig -s`` and
``netstat -i``). The list is complete when it holds the
loopback interface, which every network namespace has, and the command was not asked for less: a plain ``ifconfig``
leaves out what is down, so that it is complete only with ``-a``, or when something that is down shows that ``-a`` was
given.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.formats import basics
from ncdiag.parsers import _ifconfig, _interface, _ip_json, _ip_text, rdma_dev, rdma_link
from ncdiag.parsers._interface import Draft

KIND = "interfaces"
_OPTIONS = ("-br", "-brief", "-c", "-4", "-6", "-o", "-d", "-s", "-j", "-p")
_OBJECTS = ("addr", "address", "a", "link", "l")
_OPTION_LISTS = [options for length in range(3) for options in itertools.permutations(_OPTIONS, length)]
COMMANDS = (
    "ifconfig",
    "netstat -i",
    "netstat -ie",
    *(" ".join(("ip", *options, what)) for options in _OPTION_LISTS for what in _OBJECTS),
)
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
ANCHOR = (
    r"\d{1,9}: [^\s:@<]{1,64}(?:@[^\s:@<]{1,64})?: <[\w,-]{0,300}>"
    rf"|\d{{1,9}}: [^\s:@<]{{1,64}}(?:@[^\s:@<]{{1,64}})?\s+inet6? (?:{_IPV4}|[0-9a-f:]{{2,39}})/\d"
    r"|[^\s:@<]{1,64}(?:@[^\s:@<]{1,64})?[ \t]+(?:UP|DOWN|UNKNOWN)[ \t]+"
    rf"(?:{_IPV4}/\d|[0-9a-f]{{1,4}}:[0-9a-f:]{{1,36}}/\d|(?:[0-9a-f]{{2}}:){{5,19}}[0-9a-f]{{2}} <)"
    rf"|{_ifconfig.ANCHOR}|{_ip_json.ANCHOR}|Message truncated\s*$"
)
STRUCTURE = "0["
_Start = Callable[[int, re.Match[str]], Draft]
_Body = Callable[[Draft, str], bool]
_HEADERS: tuple[tuple[re.Pattern[str], _Start, _Body], ...] = (
    (_ip_text.HEADER, _ip_text.header, _ip_text.body),
    (_ifconfig.HEADER, _ifconfig.header, _ifconfig.body),
    (_ifconfig.OLD_HEADER, _ifconfig.old_header, _ifconfig.body),
    (_ip_text.BRIEF, _ip_text.brief, lambda _draft, _line: False),
    (_ifconfig.TABLE_ROW, _ifconfig.table_row, lambda _draft, line: _ifconfig.TABLE_HEADER.match(line) is not None),
)
_ROWS = (
    (_ip_text.BRIEF, (_ip_text.BRIEF,)),
    (_ifconfig.TABLE_HEADER, (_ifconfig.TABLE_HEADER, _ifconfig.TABLE_ROW)),
)
"""Layouts of a row an interface: the first line, and what may follow it."""
_LONG_HEADERS = (_ip_text.HEADER, _ip_text.ONE_LINE, _ifconfig.HEADER, _ifconfig.OLD_HEADER)
_FIRST = lazy_regex(r"\s*1: lo: <")
_LINE_LIMIT = 4096
_UNFILTERED = frozenset(_OPTIONS) - {"-4", "-6"} | {*_OBJECTS, "show", "s", "list", "ls", "-details", "-json", "--json"}
_DETAILS = frozenset(_interface.KINDS)


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of the same family of layouts; ``1: lo:`` again is another host's output."""
    last = lines[-1]
    if _ip_json.starts(lines[0]):
        return _ip_json.continues(lines[0], last, line)
    if not line.strip() or _ip_text.NOISE.match(line) or basics.is_elision(line):
        return True
    if len(line) > _LINE_LIMIT or line == lines[0]:
        return False
    for first, patterns in _ROWS:
        if first.match(lines[0]):
            return any(pattern.match(line) for pattern in patterns)
    if _FIRST.match(line):
        return _ip_text.NOISE.match(last) is not None
    return _long(line, after_blank=not last.strip(), old=_ifconfig.OLD_HEADER.match(lines[0]) is not None)


def _long(line: str, *, after_blank: bool, old: bool) -> bool:
    """A header, or a line below one; behind a blank line only what is indented can be the latter."""
    if any(pattern.match(line) for pattern in _LONG_HEADERS):
        return True
    if after_blank and not line[0].isspace():
        return False
    if _ip_text.BODY.match(line) or _ifconfig.BODY.match(line):
        return True
    if old and line[0].isspace() and not after_blank:
        return True
    words = line.split()
    return (
        line[0].isspace()
        and not after_blank
        and (words[0] in _DETAILS or words[0].endswith("_slave") or all(word.isdigit() for word in words))
    )


def parse(section: Section) -> Parsed:
    """An observation an interface, in the order of print."""
    if section.lines and _ip_json.starts(section.lines[0]):
        if _ip_json.is_rdma(section.text):
            return rdma_link.parse(section) if '"port"' in section.text else rdma_dev.parse(section)
        drafts, whole = _ip_json.read(section)
        unread = range(0 if not drafts else len(section.lines) - 1, 0 if whole and drafts else len(section.lines))
        found = _interface.observations(section, drafts, addresses_shown=False)
        return Parsed(observations=tuple(found), unread=tuple(unread), complete=whole and _all_asked(section, drafts))
    drafts, missed, elided = _read(section)
    found = _interface.observations(section, drafts, addresses_shown=_addresses_shown(section, drafts))
    whole = not elided and bool(drafts) and drafts[-1].body > 0 and _all_asked(section, drafts)
    return Parsed(observations=tuple(found), unread=tuple(missed), complete=whole)


def _read(section: Section) -> tuple[list[Draft], list[int], bool]:
    drafts: list[Draft] = []
    by_name: dict[str, Draft] = {}
    body: _Body = _ip_text.body
    missed: list[int] = []
    elided = False
    for index, line in enumerate(section.lines):
        if len(line) > _LINE_LIMIT:
            missed.append(index)
            continue
        opened = _header(index, line)
        if opened:
            drafts.append(opened[0])
            body = opened[1]
            continue
        single = _ip_text.ONE_LINE.match(line)
        if single:
            draft = by_name.get(single["name"])
            if draft is None:
                draft = by_name[single["name"]] = Draft(index, single["name"])
                draft.set("ifindex", basics.number(single["index"]))
                drafts.append(draft)
            _ip_text.body(draft, single["rest"].split("\\", 1)[0])
        elif (loose := _ip_text.LABELLED.match(line)) and len(by_name) == len(drafts):
            draft = by_name.get(loose["name"])
            if draft is None:
                draft = by_name[loose["name"]] = Draft(index, loose["name"])
                drafts.append(draft)
            _ip_text.body(draft, line)
        elif _ifconfig.TABLE_HEADER.match(line):
            continue
        elif line.strip() and not (drafts and body(drafts[-1], line)):
            missed.append(index)
            elided = elided or basics.is_elision(line) or _ip_text.NOISE.match(line) is not None
    return drafts, missed, elided


def _header(index: int, line: str) -> tuple[Draft, _Body] | None:
    for pattern, start, body in _HEADERS:
        found = pattern.match(line)
        if found:
            return start(index, found), body
    return None


def _addresses_shown(section: Section, drafts: Sequence[Draft]) -> bool:
    """Would an address be shown if there were one? Not by ``ip link``, nor by a filter on one family."""
    if section.command and re.search(r"\bip\b.*\s(?:l|li|link|-4|-6|-o)\b", section.command):
        return False
    return not any(d.fields.get("_link_only") for d in drafts) and any(d.addresses for d in drafts)


def _all_asked(section: Section, drafts: Sequence[Draft]) -> bool:
    """Did the command ask for every interface? Without an echoed command, loopback and a second one speak for it."""
    if not any(draft.fields.get("kind") == "loopback" or draft.name == "lo" for draft in drafts):
        return False
    if section.command is None and len(drafts) == 1:
        return False
    command, first = section.command, section.lines[drafts[0].line]
    if _ifconfig.HEADER.match(first) or _ifconfig.OLD_HEADER.match(first):
        words = basics.arguments(command, "ifconfig") if command else []
        return words == ["-a"] or (words == [] and any(draft.fields.get("up") is False for draft in drafts))
    if _ip_text.ONE_LINE.match(first) or _ifconfig.TABLE_ROW.match(first):
        return False  # interfaces without an address, or those that are down, are not in it
    return basics.unfiltered(command, "ip", _UNFILTERED)
