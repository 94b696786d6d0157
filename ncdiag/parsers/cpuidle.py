"""Idle states of a processor as a shell shows /sys: a file and its content a line, as ``grep .`` prints them.

Source of the format: Linux Documentation/admin-guide/pm/cpuidle.rst (name, latency in microseconds, disable, usage);
grep prints ``FILE:LINE``. Of several processors the first one shown counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics

KIND = "cpuidle"
COMMANDS: tuple[str, ...] = ()
_FILE = r"/sys/devices/system/cpu/cpu\d{1,5}/cpuidle/state\d{1,2}/"
ANCHOR = rf"{_FILE}(?:name|latency|disable|usage|desc|power|residency|time|above|below|rejected|default_status):"

_LINE = re.compile(
    r"/sys/devices/system/cpu/cpu(?P<cpu>\d{1,5})/cpuidle/state(?P<state>\d{1,2})/(?P<file>\w{1,16}):(?P<text>.{0,64})$"
)


def continues(lines: Sequence[str], line: str) -> bool:
    """One file a line."""
    return _LINE.match(line) is not None


def parse(section: Section) -> Parsed:
    """The states of the first processor that is shown."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    first = None
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        told = _LINE.match(line)
        if told:
            first = told["cpu"] if first is None else first
            if told["cpu"] == first:
                found[int(told["state"])].setdefault(told["file"], told["text"].strip())
        elif line.strip():
            unread.append(index)
    states = idle_states(found)
    if not states:
        return Parsed(unread=tuple(unread))
    return Parsed(observations=(observe(section, 0, "Host", idle_states=states),), unread=tuple(unread))


def idle_states(files: Mapping[int, Mapping[str, str | None]]) -> list[dict[str, Any]]:
    """The IdleState of each state with a name, from the contents of its files by number."""
    return [_state(told) for _, told in sorted(files.items()) if told.get("name")]


def _state(told: Mapping[str, str | None]) -> dict[str, Any]:
    latency, usage, disable = (basics.number(told.get(file) or "") for file in ("latency", "usage", "disable"))
    used, disabled = (None if count is None else count != 0 for count in (usage, disable))
    fields = {"latency_us": latency, "used": used, "disabled": disabled}
    return {"name": told["name"]} | {name: value for name, value in fields.items() if value is not None}
