"""``all_reduce_bench.py`` of stas00/ml-engineering (network/benchmarks), a benchmark of all-reduce in PyTorch.

The first version, after a gist by jeffra, printed one payload with its two bandwidths; since February 2024 there is a
table of sizes. Tables whose sizes end in ``KB`` (a few weeks of that year) have bandwidths in units of 2^30 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.units import size_bytes

KIND = "all_reduce_bench"
COMMANDS: tuple[str, ...] = ()  # a script of Python, which is announced by its launcher
ANCHOR = (
    r"The average bandwidth of all_reduce (?:over \d{1,7} ranks|with a \d)"
    r"|\| payload \|\s{1,8}busbw\s{1,8}\|\s{1,8}algbw"
    r"|- software: torch=\S{1,40}, cuda=\S{1,20}, nccl="
)

_RUN = re.compile(
    r"The average bandwidth of all_reduce over (?P<ranks>\d{1,7}) ranks"
    r" \((?:\d+ warmups / )?(?P<trials>\d{1,7}) trials\)"
)
_ONE = re.compile(
    r"The average bandwidth of all_reduce with a (?P<size>\d{1,6}(?:\.\d{1,9})?)GB payload"
    r" \((?P<trials>\d{1,7}) trials, (?P<ranks>\d{1,7}) ranks\)"
)
_ROW = re.compile(
    r"\|\s+(?P<size>\d{1,4}[KMGT]?(?P<binary>i?)B) \|\s+(?P<bus>\d{1,7}\.\d\d)GBps"
    r" \|\s+(?P<alg>\d{1,7}\.\d\d)GBps \|"
)
_RATE = re.compile(r"\s?(?P<what>algbw|busbw): (?P<rate>\d{1,7}\.\d{1,4}) GBps")
_SOFTWARE = re.compile(r"- software: .{1,80}?nccl=\((?P<nccl>\d{1,3}, \d{1,3}, \d{1,3})\)")
_HARDWARE = re.compile(r"(?:- hardware|Device info): _CudaDeviceProperties\(name='(?P<model>[^']{2,80})'")
_OTHER = re.compile(
    r"\s*$|\| (?:payload|-)|- (?:software|hardware): |Environment:|Device info: |\*\*\* Plotting"
    r"|!!! Can't generate plot|Legend: 1K|\s+1GBps = |Elapsed time: "
)
_GIB = (1 << 30) / 1e9
_NAME = "all_reduce_bench"


def continues(lines: Sequence[str], line: str) -> bool:
    """The report of the script, which it prints at its end."""
    return any(pattern.match(line) for pattern in (_RUN, _ONE, _ROW, _RATE, _OTHER))


def parse(section: Section) -> Parsed:
    """A benchmark for each table, or each payload of the first version, in GB/s (10^9); NCCL's version and the GPU."""
    reader = _Reader(section)
    unread = [i for i, line in enumerate(section.lines) if not reader.take(i, line) and not _OTHER.match(line)]
    return Parsed(observations=tuple(reader.observations()), unread=tuple(unread))


class _Reader:
    """The runs of a section."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._runs: list[tuple[int, dict[str, Any], list[dict[str, Any]]]] = []
        self._others: list[Observation] = []

    def take(self, index: int, line: str) -> bool:
        """Read a line; False when it tells nothing that is kept."""
        run, row, rate = _RUN.match(line) or _ONE.match(line), _ROW.match(line), _RATE.match(line)
        if run:
            self._runs.append((index, {"nranks": int(run["ranks"]), "iterations": int(run["trials"])}, []))
            if "size" in run.groupdict():
                self._runs[-1][2].append({"size": round(float(run["size"]) * 1e9)})
        elif row:
            self._row(index, row)
        elif rate and self._runs and self._runs[-1][2]:
            self._runs[-1][2][-1][rate["what"]] = float(rate["rate"])
        else:
            return self._setting(index, line)
        return True

    def _row(self, index: int, found: re.Match[str]) -> None:
        unit = 1.0 if found["binary"] else _GIB
        if not self._runs:
            self._runs.append((index, {}, []))
        rates = {"busbw": float(found["bus"]) * unit, "algbw": float(found["alg"]) * unit}
        self._runs[-1][2].append({"size": size_bytes(found["size"]), **rates})

    def _setting(self, index: int, line: str) -> bool:
        software, hardware = _SOFTWARE.match(line), _HARDWARE.match(line)
        if software:
            version = software["nccl"].replace(", ", ".")
            self._others.append(observe(self._section, index, "Host", nccl_version=version))
        elif hardware:
            model = hardware["model"]
            self._others.append(observe(self._section, index, "Gpu", (0,), standing="default", model=model))
        return software is not None or hardware is not None

    def observations(self) -> Iterator[Observation]:
        """The benchmarks, then what is told of the host."""
        for index, fields, rows in self._runs:
            measured = [row for row in rows if "busbw" in row]
            if measured:
                yield observe(self._section, index, "Benchmark", program=_NAME, rows=measured, **fields)
        yield from self._others
