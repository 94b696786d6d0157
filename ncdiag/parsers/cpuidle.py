"""Idle states of a processor as a shell shows /sys: a file and its content a line, as ``grep .`` prints them.

Source of the format: Linux Documentation/admin-guide/pm/cpuidle.rst (name, latency in microseconds, disable, usage);
grep prints ``FILE:LINE``. Of several processors the first one shown counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "cpuidle"
COMMANDS: tuple[str, ...] = ()
_FILE = r"/sys/devices/system/cpu/cpu\d{1,5}/cpuidle/state\d{1,2}/"
ANCHOR = rf"{_FILE}(?:name|latency|disable|usage|desc|power|residency|time|above|below|rejected|default_status):"

_LINE = (
    r"/sys/devices/system/cpu/cpu(?P<cpu>\d{1,5})/cpuidle/state(?P<state>\d{1,2})/(?P<file>\w{1,16}):(?P<text>.{0,64})$"
)


class _States(Reading):
    """The states of the first processor that is shown."""

    def __init__(self, section: Section) -> None:
        """No file was read yet."""
        super().__init__(section)
        self.first: str | None = None
        self.files: dict[int, dict[str, str]] = defaultdict(dict)

    def file(self, told: re.Match[str]) -> None:
        """One file a line."""
        self.first = self.first or told["cpu"]
        if told["cpu"] == self.first:
            self.files[int(told["state"])].setdefault(told["file"], told["text"].strip())

    def end(self) -> None:
        """All states as one observation."""
        states = idle_states(self.files)
        if states:
            self.observe("Host", at=0, idle_states=states)


ROWS = Rows(_States, Row(_LINE, _States.file))


def idle_states(files: Mapping[int, Mapping[str, str | None]]) -> list[dict[str, Any]]:
    """The IdleState of each state with a name, from the contents of its files by number."""
    return [_state(told) for _, told in sorted(files.items()) if told.get("name")]


def _state(told: Mapping[str, str | None]) -> dict[str, Any]:
    latency, usage, disable = (basics.number(told.get(file) or "") for file in ("latency", "usage", "disable"))
    used, disabled = (None if count is None else count != 0 for count in (usage, disable))
    fields = {"latency_us": latency, "used": used, "disabled": disabled}
    return {"name": told["name"]} | {name: value for name, value in fields.items() if value is not None}
