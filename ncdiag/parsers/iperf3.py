"""Output of iperf3 over TCP: what the kernel's sockets carry between two addresses.

Source of the format: esnet/iperf src/iperf_locale.c (report_connected, report_bw_format and those like it), src/units.c
(prefixes of 1000 for rates). Of the table only the summary counts; UDP, which loses what is too much, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics
from ncdiag.parsers import _program

KIND = "iperf3"
COMMANDS: tuple[str, ...] = ("iperf3",)
_STREAM = r"\[ {0,4}(?:\d{1,4}|SUM|ID)\](?:\[[TR]X-[CS]\])?"
ANCHOR = (
    r"Connecting to host [\w.:-]{1,64}, port \d{1,5}[ \t]*$|Server listening on \d{1,5}\b"
    rf"|{_STREAM} local [\d.a-fA-F:]{{3,45}} port \d{{1,5}} connected to "
)

_CONNECTED = re.compile(
    rf"{_STREAM} local (?P<local>[\d.a-fA-F:]{{3,45}}) port \d{{1,5}} connected to (?P<remote>[\d.a-fA-F:]{{3,45}}) "
)
_SUMMARY = re.compile(
    r"\[ {0,4}(?P<id>\d{1,4}|SUM)\](?:\[(?P<way>[TR]X)-[CS]\])?\s{1,8}[\d.]{1,9}-\s{0,3}[\d.]{1,9}\s{1,6}sec\s{1,8}"
    r"[\d.]{1,9} [KMGT]?Bytes\s{1,8}(?P<rate>\d{1,6}(?:\.\d{1,4})?) (?P<prefix>[KMGT]?)bits/sec"
    r"(?:\s{1,8}(?P<retransmits>\d{1,12}))?\s{1,24}(?P<side>sender|receiver)\s*$"
)
_OTHER = re.compile(
    rf"{_STREAM}|- - - -|-{{10,}}|Connecting to host|Accepted connection|Server listening|iperf Done|Reverse mode"
    r"|CPU Utilization|Test Complete|Cookie:|\s+TCP MSS|Time:|Starting Test|Control connection|iperf 3\.|\s*$|iperf3: "
)
_SCALE = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}


def continues(lines: Sequence[str], line: str) -> bool:
    """Connections, intervals, the summary, and what is around them."""
    return _OTHER.match(line) is not None or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """A LinkTest for each client connected, with the rate at which all its streams arrived (else were sent)."""
    found: list[dict[str, Any]] = []
    last: list[int] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        connected, summary = _CONNECTED.match(line), _SUMMARY.match(line)
        if connected:
            if not found or "rates" in found[-1]:
                found.append({"local_ip": connected["local"], "remote_ip": connected["remote"], "streams": 0})
                last.append(index)
            found[-1]["streams"] += 1
        elif summary and found:
            found[-1].setdefault("rates", []).append(summary)
            last[-1] = index
        elif line.startswith("iperf3: ") or (not _OTHER.match(line) and not basics.is_elision(line)):
            unread.append(index)
    observed = (
        observe(section, index, "LinkTest", program="iperf3", memory="host", **_of(run))
        for index, run in zip(last, found, strict=True) if "rates" in run
    )  # fmt: skip
    rest = _program.leftovers(section, unread)
    return Parsed(observations=(*observed, *rest.observations), unread=rest.unread)


def _of(run: dict[str, Any]) -> dict[str, Any]:
    """The sums of the streams where they are told, else the only stream."""
    rows: list[re.Match[str]] = run.pop("rates")
    sums = [row for row in rows if row["id"] == "SUM"] or (rows if run["streams"] == 1 else [])
    rates = {row["side"]: float(row["rate"]) * _SCALE[row["prefix"]] for row in sums if row["way"] != "RX"}
    rate = rates.get("receiver", rates.get("sender"))
    sent = next((int(row["retransmits"]) for row in sums if row["retransmits"]), None)
    return run | {"gbps": None if rate is None else round(rate, 3), "retransmits": sent}
