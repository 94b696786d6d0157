"""``/var/log/fabricmanager.log``: what NVIDIA's Fabric Manager logged since it last set up the NVSwitches.

Source of the format: NVIDIA Fabric Manager user guide (LOG_FILE_NAME, LOG_LEVEL); lines as in the test data of
leptonai/gpud components/accelerator/nvidia/fabric-manager. The file outlives restarts: errors above the line that all
switches were configured belong to an earlier start. ``/var/log/nvidia-imex.log`` has lines of the same form, which are
those of the IMEX service.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers import _context, _events
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "fabric_manager"
COMMANDS: tuple[str, ...] = (
    "cat /var/log/fabricmanager.log", "tail /var/log/fabricmanager.log", "cat /var/log/nvidia-imex.log",
    "tail /var/log/nvidia-imex.log",
)  # fmt: skip
ANCHOR = r"\[[A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d\] \[[A-Z]{4,8}\s{0,4}\] \[tid \d{1,9}\] "
EVENTS = {"fabric-manager-error": {"error": "str"}, "imex-error": {"error": "str"}}

_LINE = (
    r"\[(?P<time>[A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d)\] \[(?P<level>[A-Z]{4,8})\s{0,4}\] \[tid \d{1,9}\]"
    r" (?P<text>.*)$"
)
_READY = "Successfully configured all the available"
_IMEX = lazy_regex(r"(?i)\bIMEX\b|nvidia-imex|node configuration file")
"""What lines of the IMEX service's log name, such as the first ones: its version, its options, its list of nodes."""
_BAD = frozenset({"ERROR", "CRITICAL", "FATAL"})
_SXID = lazy_regex(
    r"detected NVSwitch (?P<kind>fatal|non-fatal) error (?P<sxid>\d{1,6}) on .{0,40}pci bus id"
    r" (?P<pci>[0-9A-Fa-f:.]{7,16})"
    r"(?P<where>.{0,80})"
)


class _Log(Reading):
    """Its errors as events: those that the catalogue knows, SXids of switches, and all others by their text."""

    def __init__(self, section: Section) -> None:
        """No error was read yet."""
        super().__init__(section)
        self.errors = _events.Collector(section)
        self.service = "imex" if any(map(_IMEX.search, (section.command or "", *section.lines))) else "fabric-manager"

    def entry(self, found: re.Match[str]) -> None:
        """A line with the log's head."""
        text = found["text"].strip()
        if found["text"].startswith(_READY):
            self.errors = _events.Collector(self.section)
        elif found["level"] in _BAD:
            context = _context.Context(time=_seconds(found["time"]))
            for event in _event(text, self.service):
                self.errors.add(self.index, event, context, text)

    def end(self) -> None:
        """The errors since all switches were configured."""
        self.found += self.errors.observations()


ROWS = Rows(_Log, Row(_LINE, _Log.entry), BLANK)


def _event(text: str, service: str) -> list[_events.Found]:
    """What an error of this service says; a switch's error has the words of the kernel's own line about it."""
    if found := _SXID.match(text):
        detail = f"{found['kind'].capitalize()},{found['where']}"
        fields = {"sxid": int(found["sxid"]), "pci": found["pci"], "detail": detail}
        return [_events.Found("nvswitch-sxid", "kernel", "symptom", fields)]
    return _events.find(text) or [_events.Found(f"{service}-error", "cuda", "cause", {"error": text[:400]})]


def _seconds(text: str) -> float | None:
    """Seconds since the epoch of the log's time, which has no zone."""
    try:
        return datetime.strptime(text, "%b %d %Y %H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
