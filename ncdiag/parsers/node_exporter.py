"""Metrics of Prometheus' node exporter about tables of the kernel: how many connections it tracks, and how many it may.

Source of the format: prometheus/node_exporter, collector/conntrack_linux.go; dashboards print columns.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.formats.prometheus import LABELS
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows
from ncdiag.parsers._tracked import COUNT, LIMIT, report_full

KIND = "node_exporter"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"[ \t]{0,8}(?:# (?:HELP|TYPE) )?node_nf_conntrack_entries(?:_limit)?[ \t{]"
STRUCTURE = " \t#n"
_NAMES = {"node_nf_conntrack_entries": COUNT, "node_nf_conntrack_entries_limit": LIMIT}
"""The kernel's own name of what a metric shows."""


class _Metrics(Reading):
    """The numbers of one host as its kernel parameters, and whether the table is full."""

    def __init__(self, section: Section) -> None:
        """No metric was read."""
        super().__init__(section)
        self.values: dict[str, str] = {}
        self.first = 0

    def metric(self, found: re.Match[str]) -> None:
        """One value; metrics of other things say nothing here."""
        name = _NAMES.get(found["name"])
        if name is not None:
            self.first = self.first if self.values else self.index
            self.values[name] = str(round(float(found["value"])))

    def end(self) -> None:
        """Both numbers together."""
        if self.values:
            self.observe("Host", at=self.first, sysctls=self.values)
            report_full(self, self.values, self.first)


ROWS = Rows(
    _Metrics,
    Row(r"\s{0,8}# (?:HELP|TYPE) node_"),
    Row(
        r"\s{0,8}(?P<name>node_[a-zA-Z_0-9]{2,60})(?:\{" + LABELS + r"\})?\s{1,40}"
        r"(?P<value>\d{1,15}(?:\.\d{1,15})?(?:e\+?\d{1,2})?)(?:\s.{0,40})?$",
        _Metrics.metric,
    ),
    BLANK,
    ELISION,
)
