"""Metrics of Prometheus' node exporter: connections that the kernel tracks, and the traffic of RDMA ports.

Source of the format: prometheus/node_exporter, collector/conntrack_linux.go and infiniband_linux.go. People also paste
columns of a dashboard.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.facts.vocabulary.hosts import TRACKED_COUNT, TRACKED_LIMIT
from ncdiag.formats.prometheus import LABELS, labels
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows
from ncdiag.parsers._tracked import report_full
from ncdiag.parsers._traffic import keep_traffic

KIND = "node_exporter"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"[ \t]{0,8}(?:# (?:HELP|TYPE) )?node_(?:nf_conntrack_entries(?:_limit)?|infiniband_port_data_\w{1,30})[ \t{]"
STRUCTURE = " \t#n"
_NAMES = {"node_nf_conntrack_entries": TRACKED_COUNT, "node_nf_conntrack_entries_limit": TRACKED_LIMIT}
"""The kernel's own name of what a metric shows."""
_TRAFFIC = {
    "node_infiniband_port_data_transmitted_bytes_total": "port_xmit_data",
    "node_infiniband_port_data_received_bytes_total": "port_rcv_data",
}


class _Metrics(Reading):
    """The kernel parameters of a host, and an event if its table is full."""

    def __init__(self, section: Section) -> None:
        """No metric was read."""
        super().__init__(section)
        self.values: dict[str, dict[str, str]] = {}
        self.first: dict[str, int] = {}
        self.traffic: list[tuple[int, str, str, str, int]] = []

    def metric(self, found: re.Match[str]) -> None:
        """Keep the value of a metric that is known; others are ignored."""
        name, counter = _NAMES.get(found["name"]), _TRAFFIC.get(found["name"])
        if counter is not None:
            named = labels(found["labels"] or "")
            device = f"{named.get('device', '')}/{named.get('port', '')}"
            self.traffic.append(
                (self.index, _node(found["labels"] or ""), device, counter, round(float(found["value"])))
            )
        if name is not None:
            node = _node(found["labels"] or "")
            self.first.setdefault(node, self.index)
            self.values.setdefault(node, {})[name] = str(round(float(found["value"])))

    def end(self) -> None:
        """Report the numbers of each node; they are parameters of this host only if there is a single node."""
        for node, values in self.values.items():
            if len(self.values) == 1:
                self.observe("Host", at=self.first[node], sysctls=values)
            report_full(self, values, self.first[node])
        if len({node for _, node, *_ in self.traffic}) == 1:
            for at, _, device, counter, value in self.traffic:
                keep_traffic(self, device, {counter: value}, at)


def _node(text: str) -> str:
    named = labels(text)
    return named.get("instance") or named.get("node") or named.get("nodename") or ""


ROWS = Rows(
    _Metrics,
    Row(r"\s{0,8}# (?:HELP|TYPE) node_"),
    Row(
        r"\s{0,8}(?P<name>node_[a-zA-Z_0-9]{2,60})(?:\{(?P<labels>" + LABELS + r")\})?\s{1,40}"
        r"(?P<value>\d{1,15}(?:\.\d{1,15})?(?:e\+?\d{1,2})?)(?:\s.{0,40})?$",
        _Metrics.metric,
    ),
    BLANK,
    ELISION,
)
