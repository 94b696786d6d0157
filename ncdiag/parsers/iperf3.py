"""Output of iperf3 over TCP: what the kernel's sockets carry between two addresses.

Source of the format: esnet/iperf src/iperf_locale.c (report_connected, report_bw_format and those like it), src/units.c
(prefixes of 1000 for rates). Of the table only the summary counts; UDP, which loses what is too much, is left out.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.parsers import _program
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, not_understood

KIND = "iperf3"
COMMANDS: tuple[str, ...] = ("iperf3",)
_STREAM = r"\[ {0,4}(?:\d{1,4}|SUM|ID)\](?:\[[TR]X-[CS]\])?"
ANCHOR = (
    r"Connecting to host [\w.:-]{1,64}, port \d{1,5}[ \t]*$|Server listening on \d{1,5}\b"
    rf"|{_STREAM} local [\d.a-fA-F:]{{3,45}} port \d{{1,5}} connected to "
)

_CONNECTED = (
    rf"{_STREAM} local (?P<local>[\d.a-fA-F:]{{3,45}}) port \d{{1,5}} connected to (?P<remote>[\d.a-fA-F:]{{3,45}}) "
)
_SUMMARY = (
    r"\[ {0,4}(?P<id>\d{1,4}|SUM)\](?:\[(?P<way>[TR]X)-[CS]\])?\s{1,8}[\d.]{1,9}-\s{0,3}[\d.]{1,9}\s{1,6}sec\s{1,8}"
    r"[\d.]{1,9} [KMGT]?Bytes\s{1,8}(?P<rate>\d{1,6}(?:\.\d{1,4})?) (?P<prefix>[KMGT]?)bits/sec"
    r"(?:\s{1,8}(?P<retransmits>\d{1,12}))?\s{1,24}(?P<side>sender|receiver)\s*$"
)
_OTHER = (
    rf"{_STREAM}|- - - -|-{{10,}}|Connecting to host|Accepted connection|Server listening|iperf Done|Reverse mode"
    r"|CPU Utilization|Test Complete|Cookie:|\s+TCP MSS|Time:|Starting Test|Control connection|iperf 3\."
)
_SCALE = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}


class _Runs(Reading):
    """A LinkTest for each client connected, with the rate at which all its streams arrived (else were sent)."""

    def __init__(self, section: Section) -> None:
        """No client was seen yet."""
        super().__init__(section)
        self.runs: list[dict[str, Any]] = []
        self.last: list[int] = []

    def connected(self, found: re.Match[str]) -> None:
        """A stream, of the next client where the one above has its summary."""
        if not self.runs or "rates" in self.runs[-1]:
            self.runs.append({"local_ip": found["local"], "remote_ip": found["remote"], "streams": 0})
            self.last.append(self.index)
        self.runs[-1]["streams"] += 1

    def summary(self, found: re.Match[str]) -> None:
        """The rate of a stream, or of all."""
        if self.runs:
            self.runs[-1].setdefault("rates", []).append(found)
            self.last[-1] = self.index

    def end(self) -> None:
        """The runs that have a summary; what the messages say that are not the table's."""
        for index, run in zip(self.last, self.runs, strict=True):
            if "rates" in run:
                self.observe("LinkTest", at=index, program="iperf3", memory="host", **_of(run))
        rest = _program.leftovers(self.section, self.unread)
        self.found += rest.observations
        self.unread = list(rest.unread)


ROWS = Rows(
    _Runs,
    Row(_CONNECTED, _Runs.connected),
    Row(_SUMMARY, _Runs.summary),
    Row(_OTHER),
    Row(r"iperf3: ", not_understood),
    Row(basics.is_elision),
    BLANK,
)


def _of(run: dict[str, Any]) -> dict[str, Any]:
    """The sums of the streams where they are told, else the only stream."""
    rows: list[re.Match[str]] = run.pop("rates")
    sums = [row for row in rows if row["id"] == "SUM"] or (rows if run["streams"] == 1 else [])
    rates = {row["side"]: float(row["rate"]) * _SCALE[row["prefix"]] for row in sums if row["way"] != "RX"}
    rate = rates.get("receiver", rates.get("sender"))
    sent = next((int(row["retransmits"]) for row in sums if row["retransmits"]), None)
    return run | {"gbps": None if rate is None else round(rate, 3), "retransmits": sent}
