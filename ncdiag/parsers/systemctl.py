"""``systemctl status``, ``is-active`` and ``list-units``, systemctl's complaints, ``nv-fabricmanager --version``.

Source of the format: systemd src/systemctl/systemctl-show.c, systemctl-list-units.c, systemctl-start-unit.c.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "systemctl"
COMMANDS: tuple[str, ...] = ("systemctl", "service", "nv-fabricmanager")
ANCHOR = (
    r"(?:[^\w\s]{1,4}[ \t]+|x )?[\w@.-]{1,80}\.service - "
    r"|(?:[^\w\s]{1,4}[ \t]+)?[ \t]{0,4}[\w@.-]{1,80}\.service[ \t]+(?:loaded|not-found|masked)[ \t]+"
    r"(?:active|inactive|failed)\b"
    r"|Unit [\w@.-]{1,80} (?:could not be found|is not (?:loaded|running))"
    r"|Job for [\w@.-]{1,80} failed because"
    r"|Fabric Manager version is\s?:"
)
SIGNS = (".service - ", "loaded", "not-found", "masked")

_UNIT = re.compile(r"(?:[^\w\s]{1,4}\s+|x )?(?P<unit>[\w@.-]{1,80}\.service)(?: - |\s*$)")
_ACTIVE = re.compile(r"\s*Active: (?P<state>active|inactive|failed|activating|deactivating|reloading)\b")
_LISTED = re.compile(
    r"(?:[^\w\s]{1,4}\s+)?\s*(?P<unit>[\w@.-]{1,80}\.service)\s+(?:loaded|not-found|masked)\s+(?P<state>active|inactive|failed)\b"
)
_MISSING = re.compile(
    r"Unit (?P<unit>[\w@.-]{1,80}) (?:could not be found|is not)|.{0,40}Job for (?P<job>[\w@.-]{1,80}) failed"
)
_VERSION = re.compile(r"Fabric Manager version is\s?:\s?(?P<version>\d[\d.]{2,30})")
_WORD = re.compile(r"(?P<state>active|inactive|failed|activating|deactivating|unknown)\s*$")
_DETAIL = re.compile(
    r"\s*(?:Loaded|Drop-In|Active|Docs|Process|Main PID|Tasks|Memory|CPU|CGroup|Status|Duration|Trigger\w*|Condition"
    r"|Invocation|IO|IP)\s?: |\s*[└├│─]|\s{4,}|See \"systemctl|(?:Hint|Warning): "
    r"|\(END\)|lines \d+-\d+|\d+ loaded units|To show all"
)
_JOURNAL = re.compile(r"[A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d ")
"""What the unit wrote; the catalogue reads it."""
_LINES = 400
_ASKED = re.compile(r"(?:is-active|is-failed|status)(?P<units>(?:\s+[\w@.-]{1,80}){1,8})")
_UNITS = 8


def continues(lines: Sequence[str], line: str) -> bool:
    """The details under a unit, its journal lines, further units of a list."""
    if len(lines) > _LINES:
        return False
    if not line.strip():
        return bool(lines) and bool(lines[-1].strip())
    if _UNIT.match(line):
        return bool(lines) and not any(_UNIT.match(text) for text in lines) and not _LISTED.match(lines[0])
    return any(pattern.match(line) for pattern in (_DETAIL, _JOURNAL, _LISTED, _MISSING, _VERSION)) or (
        _WORD.match(line) is not None and len(lines) < _UNITS and all(map(_WORD.match, lines))
    )


def parse(section: Section) -> Parsed:
    """Services with ``active``; a unit that does not exist is not active."""
    asked = _ASKED.search(section.command or "")
    units = [word for word in asked["units"].split() if not word.startswith("-")] if asked else []
    unit = next(iter(units), None)
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        said = _said(line, unit)
        if said and _WORD.match(line):  # a word for each unit, in their order
            unit = units[units.index(unit) + 1] if unit in units[:-1] else None
        if said:
            name, fields = said
            found.append(observe(section, index, "Service", (name.removesuffix(".service"),), **fields))
        elif begins := _UNIT.match(line):
            unit = begins["unit"]
        elif line.strip() and not _DETAIL.match(line):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _said(line: str, unit: str | None) -> tuple[str, dict[str, Any]] | None:
    """The unit that a line mentions and what it says."""
    listed = _LISTED.match(line)
    if listed:
        return listed["unit"], {"active": listed["state"] == "active"}
    missing = _MISSING.match(line)
    if missing:
        return missing["unit"] or missing["job"], {"active": False}
    version = _VERSION.match(line)
    if version:
        return "nvidia-fabricmanager", {"version": version["version"]}
    state = _ACTIVE.match(line) or _WORD.match(line)
    if state and unit:
        active = {"active": True, "reloading": True, "inactive": False, "failed": False, "deactivating": False}
        return unit, {"active": active.get(state["state"])}
    return None
