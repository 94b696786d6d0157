"""``systemctl cat UNIT`` and unit files of systemd: the limits that a unit sets for what it starts, drop-ins included.

Source of the format: systemd.syntax(7), systemctl(1) (``cat`` writes the path of each file above it as a comment),
systemd.exec(5) (``LimitMEMLOCK=``; ``soft:hard``). The last assignment counts, so a drop-in overrides the unit. People
also paste only the part ``[Service]``, without a path: it is read if it starts a program, but a setting that is missing
there may be in another part of the unit.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.model.system import UNNAMED_UNIT
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "unit_file"
_FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/system")
COMMANDS: tuple[str, ...] = ("systemctl cat", *(f"cat {folder}" for folder in _FOLDERS))
_PATH = r"/(?:etc|usr/lib|lib|run)/systemd/system/"
ANCHOR = rf"#[ \t]{_PATH}[\w@.-]{{1,80}}\.service(?:\.d/[\w.-]{{1,80}}\.conf)?[ \t]*$|\[Service\][ \t]*$"

_NAMED = lazy_regex(r"(?P<unit>[\w@.-]{1,80}?)\.service(?:\.d/[\w.-]{1,80}\.conf)?\b")
_ASKED = lazy_regex(r"systemctl (?:-\S+ )*cat (?:-\S+ )*(?P<unit>[\w@-][\w@.-]{0,79}?)(?:\.service)?[\"']?\s*$")
_KEPT = 300
SANDBOX = r"(?:RestrictAddressFamilies|PrivateNetwork|PrivateDevices|DevicePolicy|DeviceAllow)"
"""What may hide interfaces and devices from a unit (systemd.exec(5), systemd.resource-control(5))."""
_LISTS = frozenset({"RestrictAddressFamilies", "DeviceAllow"})


class _Unit(Reading):
    """The service with its limits and its command."""

    def __init__(self, section: Section) -> None:
        """The unit is that of the command until a comment names one."""
        super().__init__(section)
        command = section.command or ""
        asked = _ASKED.search(command) or (_NAMED.search(command.rpartition("/system/")[2]) if "/" in command else None)
        self.unit: str = asked["unit"] if asked else UNNAMED_UNIT
        self.runs_unnamed = False
        self.closed: dict[tuple[str, str], str] = {}

    def path(self, found: re.Match[str]) -> None:
        """A file of the unit follows."""
        named = _NAMED.search(found["path"])
        self.unit = named["unit"] if named else self.unit

    def service(self, _: re.Match[str]) -> None:
        """The part that has limits begins: one that the file of a unit does not set has the default of the manager."""
        self._observe(unit_file=None if self.unit == UNNAMED_UNIT else True)

    def limit(self, found: re.Match[str]) -> None:
        """A limit; of two values the first is the soft one, which counts."""
        soft, _, hard = found["value"].partition(":")
        self._observe(limits={found["name"]: hard or soft, f"{found['name']}Soft": soft})

    def runs(self, found: re.Match[str]) -> None:
        """The command that the unit starts."""
        self.runs_unnamed = self.runs_unnamed or self.unit == UNNAMED_UNIT
        self._observe(runs=found["runs"][:_KEPT].strip())

    def kill_mode(self, found: re.Match[str]) -> None:
        """What ends with the unit."""
        self._observe(kill_mode=found["kill_mode"])

    def sandbox(self, found: re.Match[str]) -> None:
        """What is hidden from the unit; lists of several assignments add up, and an empty one begins anew."""
        name, value = found["name"], found["value"].strip()
        before = self.closed.get((self.unit, name), "") if value else ""
        self.closed[self.unit, name] = f"{before} {value}".strip() if name in _LISTS else value
        self._observe(sandbox={name: self.closed[self.unit, name]})

    def _observe(self, **fields: Any) -> None:  # noqa: ANN401
        self.observe("Service", (self.unit,), **fields)

    def end(self) -> None:
        """A part without a name counts if it starts a program."""
        if not self.runs_unnamed:
            self.found = [each for each in self.found if each.key != (UNNAMED_UNIT,)]


ROWS = Rows(
    _Unit,
    Row(rf"#\s(?P<path>{_PATH}\S{{1,160}})\s*$", _Unit.path),
    Row(r"\[Service\]\s*$", _Unit.service),
    Row(r"\[[A-Z]\w{2,20}\]\s*$"),
    Row(
        r"(?P<name>Limit[A-Z]{2,12}|TasksMax)=(?P<value>(?:\d{1,12}[KMGT]?|infinity)(?::(?:\d{1,12}[KMGT]?|infinity))?)\s*$",
        _Unit.limit,
    ),
    Row(r"ExecStart=(?P<runs>\S.{0,400})$", _Unit.runs),
    Row(r"KillMode=(?P<kill_mode>[a-z-]{3,20})\s*$", _Unit.kill_mode),
    Row(rf"(?P<name>{SANDBOX})=(?P<value>.{{0,300}})$", _Unit.sandbox),
    Row(r"[A-Z]\w{2,40}=.{0,800}$"),
    Row(r"[#;].{0,400}$"),
    Row(r"\s+\S.{0,400}$", belongs=lambda lines, _: bool(lines) and lines[-1].rstrip().endswith("\\")),
    BLANK,
    ELISION,
)
