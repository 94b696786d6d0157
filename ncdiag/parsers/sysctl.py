"""``sysctl -a`` and ``sysctl NAME...``: kernel parameters as ``name = value``.

Source: procps sysctl(8) (``name = value``, with -n the value alone, which tells nothing here); BusyBox prints the same.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows
from ncdiag.parsers._tracked import report_full

KIND = "sysctl"
COMMANDS: tuple[str, ...] = ("sysctl",)
_NAME = r"(?:abi|crypto|debug|dev|fs|kernel|net|sunrpc|user|vm)[./][\w][\w./@-]{1,120}"
ANCHOR = rf"[ \t]{{0,8}}{_NAME}[ \t]?=[ \t]?\S"
STRUCTURE = " \tacdfknsuv"

_LIMIT = 5000


class _Parameters(Reading):
    """The parameters of the host by name, runs of blanks as one."""

    def __init__(self, section: Section) -> None:
        """No parameter was read yet."""
        super().__init__(section)
        self.values: dict[str, str] = {}
        self.first = 0

    def parameter(self, found: re.Match[str]) -> None:
        """One a line."""
        self.first = self.first if self.values else self.index
        self.values[found["name"].replace("/", ".")] = " ".join(found["value"].split())

    def end(self) -> None:
        """All of them as one observation."""
        if self.values:
            self.observe("Host", at=self.first, sysctls=self.values)
            report_full(self, self.values, self.first)


ROWS = Rows(
    _Parameters,
    Row(rf"\s{{0,8}}(?P<name>{_NAME})\s?=\s?(?P<value>.*)$", _Parameters.parameter),
    Row(r"sysctl: |\* Applying /"),
    most=_LIMIT,
)
