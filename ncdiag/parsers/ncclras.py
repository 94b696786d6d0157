"""The answers of NCCL's RAS threads: ``ncclras``, ``STATUS`` over its port, JSON, and the lines of monitor mode.

Source of the format: NCCL src/ras/client_support.cc (2.24.3 to 2.30: rasClientRunInit, rasClientRunComms, jsonWrite*,
the notifications) and the user guide's chapter on RAS. The reports in JSON are read by `ncdiag.parsers._ras_json`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.parsers import _ras_json, _ras_text

KIND = "ncclras"
COMMANDS: tuple[str, ...] = ("ncclras",)
ANCHOR = rf"{_ras_text.ANCHOR}|{_ras_json.ANCHOR}"

_EVENTS = {
    "PEER_DEAD": ("ras-peer-dead", "symptom"), "PEER_UNRESPONSIVE": ("ras-peer-unreachable", "symptom"),
    "PEER_RETRY": ("ras-peer-slow", "fact"), "PEER_DISCONNECTED": ("ras-connection-closed", "fact"),
}  # fmt: skip


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of the report, of monitor mode, or of one JSON object."""
    if _ras_json.is_json(lines[0]):
        return _ras_json.continues(lines, line)
    return not line.strip() or _ras_text.known(line) or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """One RasReport for what a report tells, and an Event for each notification."""
    if not section.lines:
        return Parsed()
    if _ras_json.is_json(section.lines[0]):
        read = _ras_json.read(section.text)
        events, fields = ([] if read.event is None else [(0, read.event)]), read.report
        unread = [] if events or fields else list(range(len(section.lines)))
    else:
        text = _ras_text.read(section.lines)
        events, fields, unread = text.events, text.report, text.unread
    found = [_event(section, index, event) for index, event in events]
    if fields:
        found.insert(0, observe(section, 0, "RasReport", standing="process", **fields))
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _event(section: Section, index: int, told: _ras_text.Notification) -> Observation:
    """The event of a notification; the catalogue's name where the log has a message that says the same."""
    word = re.sub(r"[^a-z]+", "-", told.event.lower()).strip("-")
    name, kind = _EVENTS.get(told.event, (f"ras-{word}", "fact"))
    peer = told.node if told.pid is None else f"{told.node} process {told.pid}"
    fields = {
        "notification": told.event, "group": told.group, "peer_host": told.node, "peer_pid": told.pid,
        "peer_gpus": ",".join(map(str, told.gpus)) or None, "details": told.details,
    }  # fmt: skip
    return observe(
        section, index, "Event", event=name, origin="nccl", kind=kind, text=section.lines[index].strip()[:400],
        time=told.time, order=section.number(index), peer=peer, count=1,
        fields={key: value for key, value in fields.items() if value is not None},
    )  # fmt: skip
