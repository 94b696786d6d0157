"""``systemctl status``, ``is-active``, ``list-units`` and ``show``, its complaints, ``nv-fabricmanager --version``.

Source of the format: systemd src/systemctl/systemctl-show.c, systemctl-list-units.c, systemctl-start-unit.c.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import ONE_BLANK, Reading, Row, Rows, not_understood
from ncdiag.parsers.unit_file import SANDBOX

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

_LISTED = (
    r"(?:[^\w\s]{1,4}\s+)?\s*(?P<unit>[\w@.-]{1,80}\.service)\s+(?:loaded|not-found|masked)\s+"
    r"(?P<state>active|inactive|failed)\b"
)
_IS_LISTED = lazy_regex(_LISTED)
_MISSING = r"Unit (?P<unit>[\w@.-]{1,80}) (?:could not be found|is not)|.{0,40}Job for (?P<job>[\w@.-]{1,80}) failed"
_DETAIL = (
    r"\s*(?:Loaded|Drop-In|Active|Docs|Process|Main PID|Tasks|Memory|CPU|CGroup|Status|Duration|Trigger\w*|Condition"
    r"|Invocation|IO|IP)\s?: |\s*[└├│─]|\s{4,}|See \"systemctl|(?:Hint|Warning): "
    r"|\(END\)|lines \d+-\d+|\d+ loaded units|To show all"
)
_JOURNAL = r"[A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d "
"""What the unit wrote; the catalogue reads it."""
_LINES = 400
_ASKED = lazy_regex(r"(?:is-active|is-failed|status|show)(?P<units>(?:\s+[\w@.-]{1,80}){1,8})")
_UNITS = 8
_WITH_VALUE = frozenset({"-p", "-P", "--property", "-t", "--type", "-n", "--lines", "-o", "--output"})
"""Options whose value is the next word."""
_ACTIVE_IN = {"active": True, "reloading": True, "inactive": False, "failed": False, "deactivating": False}
_UNIT = r"(?:[^\w\s]{1,4}\s+|x )?(?P<unit>[\w@.-]{1,80}\.service)(?: - |\s*$)"
_IS_UNIT = lazy_regex(_UNIT)
_WORD = r"(?P<state>active|inactive|failed|activating|deactivating|unknown)\s*$"
_IS_WORD = lazy_regex(_WORD)


class _Services(Reading):
    """Services with ``active``; a unit that does not exist is not active."""

    def __init__(self, section: Section) -> None:
        """The units are those in the command until a line names one."""
        super().__init__(section)
        asked = _ASKED.search(section.command or "")
        self.units = _named(asked["units"].split()) if asked else []
        self.unit = next(iter(self.units), None)

    def listed(self, found: re.Match[str]) -> None:
        """A row of ``list-units``."""
        self._service(found["unit"], active=found["state"] == "active")

    def missing(self, found: re.Match[str]) -> None:
        """A unit that does not exist, or a job that failed."""
        is_absent = "could not be found" in found[0]
        self._service(found["unit"] or found["job"], active=False, **({"installed": False} if is_absent else {}))

    def version(self, found: re.Match[str]) -> None:
        """That of the fabric manager."""
        self._service("nvidia-fabricmanager", version=found["version"])

    def state(self, found: re.Match[str]) -> bool:
        """The state of the unit above; False where none is named."""
        if self.unit:
            self._service(self.unit, active=_ACTIVE_IN.get(found["state"]))
        return self.unit is not None

    def word(self, found: re.Match[str]) -> bool:
        """A word for each unit in the command, in their order."""
        known = self.state(found)
        self.unit = self.units[self.units.index(self.unit) + 1] if self.unit in self.units[:-1] else None
        return known

    def limit(self, found: re.Match[str]) -> bool:
        """A limit of the unit in the command, as ``show`` prints it; False where no unit is named."""
        if len(self.units) == 1:
            self._service(self.units[0], limits={found["name"]: found["value"]})
        return len(self.units) == 1

    def kill_mode(self, found: re.Match[str]) -> bool:
        """What ends with the unit in the command; False where no unit is named."""
        if len(self.units) == 1:
            self._service(self.units[0], kill_mode=found["kill_mode"])
        return len(self.units) == 1

    def sandbox(self, found: re.Match[str]) -> bool:
        """What is hidden from the unit in the command; False where no unit is named."""
        if len(self.units) == 1:
            self._service(self.units[0], sandbox={found["name"]: found["value"].strip()})
        return len(self.units) == 1

    def begins(self, found: re.Match[str]) -> None:
        """The details of a unit follow."""
        self.unit = found["unit"]

    def _service(self, unit: str, **fields: Any) -> None:  # noqa: ANN401
        self.observe("Service", (unit.removesuffix(".service"),), **fields)


def _named(words: Sequence[str]) -> list[str]:
    """The units among the words of a command: no options, and no values of those that take one."""
    pairs = zip(["", *words], words, strict=False)
    return [word for before, word in pairs if not word.startswith("-") and before not in _WITH_VALUE]


def _is_only_unit(lines: Sequence[str], _line: str) -> bool:
    return bool(lines) and not any(map(_IS_UNIT.match, lines)) and not _IS_LISTED.match(lines[0])


def _are_words(lines: Sequence[str], _line: str) -> bool:
    return len(lines) < _UNITS and all(map(_IS_WORD.match, lines))


def _are_properties(lines: Sequence[str], _line: str) -> bool:
    return all("=" in line for line in lines)


ROWS = Rows(
    _Services,
    ONE_BLANK,
    Row(_LISTED, _Services.listed),
    Row(_MISSING, _Services.missing),
    Row(r"Fabric Manager version is\s?:\s?(?P<version>\d[\d.]{2,30})", _Services.version),
    Row(r"\s*Active: (?P<state>active|inactive|failed|activating|deactivating|reloading)\b", _Services.state),
    Row(_WORD, _Services.word, belongs=_are_words),
    Row(_UNIT, _Services.begins, belongs=_is_only_unit),
    Row(r"KillMode=(?P<kill_mode>[a-z-]{3,20})\s*$", _Services.kill_mode),
    Row(r"(?P<name>Limit[A-Z]\w{1,30}|TasksMax)=(?P<value>\S{1,40})\s*$", _Services.limit),
    Row(rf"(?P<name>{SANDBOX})=(?P<value>.{{0,300}})$", _Services.sandbox, belongs=_are_properties),
    Row(r"[A-Z]\w{2,40}=.{0,400}$", belongs=_are_properties),
    Row(_DETAIL),
    Row(_JOURNAL, not_understood),
    most=_LINES + 1,
)
