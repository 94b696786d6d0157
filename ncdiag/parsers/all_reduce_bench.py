"""``all_reduce_bench.py`` of stas00/ml-engineering (network/benchmarks), a benchmark of all-reduce in PyTorch.

The first version, after a gist by jeffra, printed one payload with its two bandwidths; since February 2024 there is a
table of sizes. Tables whose sizes end in ``KB`` (a few weeks of that year) have bandwidths in units of 2^30 bytes.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.formats.units import size_bytes
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "all_reduce_bench"
COMMANDS: tuple[str, ...] = ()  # a script of Python, which is announced by its launcher
ANCHOR = (
    r"The average bandwidth of all_reduce (?:over \d{1,7} ranks|with a \d)"
    r"|\| payload \|\s{1,8}busbw\s{1,8}\|\s{1,8}algbw"
    r"|- software: torch=\S{1,40}, cuda=\S{1,20}, nccl="
)

_RUN = (
    r"The average bandwidth of all_reduce over (?P<ranks>\d{1,7}) ranks"
    r" \((?:\d+ warmups / )?(?P<trials>\d{1,7}) trials\)"
)
_ONE = (
    r"The average bandwidth of all_reduce with a (?P<size>\d{1,6}(?:\.\d{1,9})?)GB payload"
    r" \((?P<trials>\d{1,7}) trials, (?P<ranks>\d{1,7}) ranks\)"
)
_ROW = (
    r"\|\s+(?P<size>\d{1,4}[KMGT]?(?P<binary>i?)B) \|\s+(?P<bus>\d{1,7}\.\d\d)GBps"
    r" \|\s+(?P<alg>\d{1,7}\.\d\d)GBps \|"
)
_OTHER = (
    r"\| (?:payload|-)|- (?:software|hardware): |Environment:|Device info: |\*\*\* Plotting"
    r"|!!! Can't generate plot|Legend: 1K|\s+1GBps = |Elapsed time: "
)
_GIB = (1 << 30) / 1e9
_NAME = "all_reduce_bench"


class _Runs(Reading):
    """A benchmark for each table, or each payload of the first version, in GB/s (10^9); NCCL's version and the GPU."""

    def __init__(self, section: Section) -> None:
        """No run has begun."""
        super().__init__(section)
        self.runs: list[tuple[int, dict[str, Any], list[dict[str, Any]]]] = []

    def run(self, found: re.Match[str]) -> None:
        """A run, with the rows of its table below."""
        self.runs.append((self.index, {"nranks": int(found["ranks"]), "iterations": int(found["trials"])}, []))

    def one(self, found: re.Match[str]) -> None:
        """A run of one payload, with its bandwidths below."""
        self.run(found)
        self.runs[-1][2].append({"size": round(float(found["size"]) * 1e9)})

    def row(self, found: re.Match[str]) -> None:
        """A payload of the table."""
        unit = 1.0 if found["binary"] else _GIB
        if not self.runs:
            self.runs.append((self.index, {}, []))
        rates = {"busbw": float(found["bus"]) * unit, "algbw": float(found["alg"]) * unit}
        self.runs[-1][2].append({"size": size_bytes(found["size"]), **rates})

    def rate(self, found: re.Match[str]) -> bool:
        """A bandwidth of the payload above."""
        rows = self.runs[-1][2] if self.runs else []
        if rows:
            rows[-1][found["what"]] = float(found["rate"])
        return bool(rows)

    def software(self, found: re.Match[str]) -> None:
        """The version of NCCL."""
        self.observe("Host", nccl_version=found["nccl"].replace(", ", "."))

    def hardware(self, found: re.Match[str]) -> None:
        """The model of the GPU."""
        self.observe("Gpu", (0,), standing="default", model=found["model"])

    def end(self) -> None:
        """The benchmarks, before what is said of the host."""
        others, self.found = self.found, []
        for index, fields, rows in self.runs:
            measured = [row for row in rows if "busbw" in row]
            if measured:
                self.observe("Benchmark", at=index, program=_NAME, rows=measured, **fields)
        self.found += others


ROWS = Rows(
    _Runs,
    Row(_RUN, _Runs.run),
    Row(_ONE, _Runs.one),
    Row(_ROW, _Runs.row),
    Row(r"\s?(?P<what>algbw|busbw): (?P<rate>\d{1,7}\.\d{1,4}) GBps", _Runs.rate),
    Row(r"- software: .{1,80}?nccl=\((?P<nccl>\d{1,3}, \d{1,3}, \d{1,3})\)", _Runs.software),
    Row(r"(?:- hardware|Device info): _CudaDeviceProperties\(name='(?P<model>[^']{2,80})'", _Runs.hardware),
    Row(_OTHER),
    BLANK,
)
