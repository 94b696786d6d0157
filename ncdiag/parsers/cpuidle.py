"""Idle states of a processor: the files of /sys as ``grep .`` prints them, or ``cpupower idle-info``.

Sources of the formats: Linux Documentation/admin-guide/pm/cpuidle.rst (name, latency in microseconds, disable, usage;
grep prints ``FILE:LINE``), tools/power/cpupower/utils/cpuidle-info.c. Of several processors the first one shown counts.
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
COMMANDS: tuple[str, ...] = ("cpupower idle-info",)
_FILE = r"/sys/devices/system/cpu/cpu\d{1,5}/cpuidle/state\d{1,2}/"
ANCHOR = rf"{_FILE}(?:name|latency|disable|usage|desc|power|residency|time|above|below|rejected|default_status):"
ANCHOR += r"|CPUidle driver: |Number of idle states: \d{1,3}[ \t]*$"

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
        self.processors = 0

    def file(self, told: re.Match[str]) -> None:
        """One file a line."""
        self.first = self.first or told["cpu"]
        if told["cpu"] == self.first:
            self.files[int(told["state"])].setdefault(told["file"], told["text"].strip())

    def processor(self, _: object) -> None:
        """The states of another processor follow in the output of cpupower."""
        self.processors += 1

    def state(self, told: re.Match[str]) -> None:
        """The line that begins a state in the output of cpupower."""
        if self.processors <= 1:
            self.files[len(self.files)].update(name=told["name"], disable="1" if told["disabled"] else "0")

    def value(self, told: re.Match[str]) -> None:
        """A value of the state above."""
        if self.processors <= 1 and self.files:
            self.files[len(self.files) - 1].setdefault(told["file"].lower(), told["text"])

    def end(self) -> None:
        """All states as one observation."""
        states = idle_states(self.files)
        if states:
            self.observe("Host", at=0, idle_states=states)


ROWS = Rows(
    _States,
    Row(_LINE, _States.file),
    Row(r"grep: /sys/devices/system/cpu/\S{1,80}: "),
    Row(r"Number of idle states: \d{1,3}\s*$", _States.processor),
    Row(r"(?P<name>[A-Z][\w-]{0,19})(?P<disabled> \(DISABLED\))?\s{0,2}:\s*$", _States.state),
    Row(r"(?P<file>Latency|Usage): (?P<text>\d{1,19})\s*$", _States.value),
    Row(r"(?:CPUidle (?:driver|governor)|Available idle states|Flags/Description|Duration): |analyzing CPU |\s*$"),
)


def idle_states(files: Mapping[int, Mapping[str, str | None]]) -> list[dict[str, Any]]:
    """The IdleState of each state with a name, from the contents of its files by number."""
    return [_state(told) for _, told in sorted(files.items()) if told.get("name")]


def _state(told: Mapping[str, str | None]) -> dict[str, Any]:
    latency, usage, disable = (basics.number(told.get(file) or "") for file in ("latency", "usage", "disable"))
    used, disabled = (None if count is None else count != 0 for count in (usage, disable))
    fields = {"latency_us": latency, "used": used, "disabled": disabled}
    return {"name": told["name"]} | {name: value for name, value in fields.items() if value is not None}
