"""``nvbandwidth``: what copies between GPUs, inside a GPU and to and from the host reach; as text and as JSON (``-j``).

Source of the format: NVIDIA/nvbandwidth v0.1 to v0.8 (output.cpp, json_output.cpp, inline_common.h, testcase.h). A cell
stands for the copy between the GPU of its row and that of its column; the names of the tests say which matrix it is.
The tests of several nodes number processes instead of GPUs and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.formats import decoded
from ncdiag.parsers._peer_rates import LARGEST, Rates
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "nvbandwidth"
COMMANDS: tuple[str, ...] = ("nvbandwidth",)
_TEST = (
    r"(?:host_to_(?:device|all)|(?:device|all)_to_host|device_to_device|device_local|all_to_one|one_to_all|host_device"
    r"|multinode)_\w{1,60}"
)
_KEY = r'[ \t]*"nvbandwidth"\s?:[ \t]*\{?[ \t]*$'
_MATRIX = r"memcpy (?P<by>CE|SM) (?P<from>GPU|CPU)\(row\) (?:->|<-|<->) (?P<to>[CG]PU)\(column\) bandwidth \(GB/s\)\s*$"
ANCHOR = rf"nvbandwidth Version: v?\d|Running {_TEST}\.[ \t]*$|{_KEY}|{re.sub('[?]P<[a-z]+>', '?:', _MATRIX)}"

_TITLE = r".{4,60} \((?:GB/s|ns)\)\s*$"
_DEVICE = r"Device (?P<gpu>\d{1,3}): (?P<model>.{3,80}?) \((?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\)\s*$"
_OTHER = (
    r"\s*$|nvbandwidth Version|Built from Git|MPI version|NOTE: |Performance can vary|CUDA (?:Runtime|Driver) Version"
    r"|Driver Version: |(?:SUM|MIN|MAX|AVG) \w|Waiv(?:ed|ing)|WAIVED|Process \d"
)
_ABOVE_HOST = "Driver Version: "
_JSON = lazy_regex(r"\s*\{?\s*$|" + _KEY)
_KINDS = (
    (lazy_regex(r"host_to_device_memcpy_"), "from_host_gb_per_s"),
    (lazy_regex(r"device_to_host_memcpy_"), "to_host_gb_per_s"),
    (lazy_regex(r"device_local_copy"), "local_gb_per_s"),
    (lazy_regex(r"device_to_device_memcpy_"), "peer_gb_per_s"),
    (lazy_regex(r"device_to_device_bidirectional_memcpy_"), "peer_both_gb_per_s"),
)
"""The field that the matrix of a test goes into; others measure many GPUs at once, or the time of one access."""
_PARTIAL = ("Read1", "Read2", "Write1", "Write2")
"""One direction of a copy in both, which the matrix ``Total`` adds up."""


class _Tests(Reading):
    """Links and GPUs with GB/s, the worse of the two directions; a test that found wrong data as a failed check."""

    test = field = ""

    def __init__(self, section: Section) -> None:
        """No test has begun."""
        super().__init__(section)
        self.rates = Rates(section)
        self.wrong: dict[str, tuple[int, str]] = {}

    def running(self, found: re.Match[str]) -> None:
        """The next test."""
        self.test, self.field = found["test"], _field(found["test"])

    def invalid(self, _: re.Match[str]) -> None:
        """Wrong data; the first line of a test counts."""
        self.wrong.setdefault(self.test, (self.index, self.line.strip()))

    def matrix(self, found: re.Match[str]) -> None:
        """The title of a matrix; without the line above that names the test, it says what was copied."""
        if not self.test and found["from"] == found["to"] == "GPU":
            self.test = f"device_to_device_memcpy_{found['by'].lower()}"
            self.field = _field(self.test)
        self.title(found)

    def row(self, found: re.Match[str]) -> None:
        """A row of the matrix."""
        _take(self.rates, self.field, self.index, int(found["gpu"]), found["cells"].split())

    def device(self, found: re.Match[str]) -> None:
        """The model of a GPU."""
        self.rates.gpu(self.index, int(found["gpu"]), model=found["model"].strip())

    def title(self, _: re.Match[str]) -> None:
        """What the matrix below holds."""
        self.field = "" if any(word in self.line for word in _PARTIAL) else _field(self.test)

    def host(self, found: re.Match[str]) -> bool:
        """The name of the host; False for a word in another place."""
        here = _below_driver(self.section.lines[max(0, self.index - 2) : self.index], self.line)
        self.rates.host = (self.section.host or found["host"]) if here else self.rates.host
        return here

    def end(self) -> None:
        """The rates, then the checks that failed."""
        self.found += self.rates.observations()
        for test, (at, text) in self.wrong.items():
            name = test or "a copy"
            self.observe("HealthCheck", at=at, program="nvbandwidth", name=name, result="fail", message=text)


def _below_driver(lines: Sequence[str], _: str) -> bool:
    """The name of the host is alone below the version of the driver."""
    return next((text for text in reversed(lines[-2:]) if text.strip()), "").startswith(_ABOVE_HOST)


ROWS = Rows(
    _Tests,
    Row(rf"Running (?P<test>{_TEST})\.\s*$", _Tests.running),
    Row(r"\s?Invalid value when checking the pattern at ", _Tests.invalid),
    Row(r"\s*(?P<gpu>\d{1,4})(?P<cells>(?:\s+(?:N/A|\d{1,7}\.\d{1,3}))+)\s*$", _Tests.row),
    Row(_DEVICE, _Tests.device),
    Row(_MATRIX, _Tests.matrix),
    Row(_TITLE, _Tests.title),
    Row(r"\s+(?:\d{1,4}\s+)*\d{1,4}\s*$"),  # the numbers of the columns
    Row(_OTHER),
    Row(r"(?P<host>[A-Za-z0-9][\w.-]{0,63})\s*$", _Tests.host, belongs=_below_driver),
    most=20_000,
)


def continues(lines: Sequence[str], line: str) -> bool:
    """Titles, matrices and sums; of JSON what belongs to the object."""
    if _JSON.match(lines[0]):
        return not decoded.closed(lines[-1], line) and decoded.is_line(line)
    return ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """What the text or the JSON says of the copies."""
    return _parse_json(section) if section.lines and _JSON.match(section.lines[0]) else ROWS.parse(section)


def _field(test: str) -> str:
    """The field of a test's matrix; empty for one that is passed over."""
    return next((field for pattern, field in _KINDS if pattern.match(test)), "")


def _take(rates: Rates, field: str, index: int, row: int, cells: Sequence[str]) -> None:
    if not field or len(cells) > LARGEST:
        return
    for column, cell in enumerate(cells):
        value = _rate(cell)
        if value is None:
            continue
        if not field.startswith("peer_"):
            rates.gpu(index, column, **{field: value})
        elif row != column:  # releases before 0.3 print 0.00 on the diagonal
            rates.pair(index, field, row, column, value)


def _rate(cell: Any) -> float | None:  # noqa: ANN401  (JSON of others)
    if isinstance(cell, str) and re.fullmatch(r"\d{1,7}(?:\.\d{1,6})?", cell):
        return float(cell)
    return None


def _parse_json(section: Section) -> Parsed:
    root = decoded.table(decoded.opened(section.lines).get("nvbandwidth"))
    rates = Rates(section)
    for case in decoded.tables(root.get("testcases")):
        field, about = (
            _field(decoded.text(case.get("name")) or ""),
            decoded.text(case.get("bandwidth_description")) or "",
        )
        if any(word in about for word in _PARTIAL):
            continue
        for number, row in enumerate(_rows(case.get("bandwidth_matrix"))):
            _take(rates, field, 0, number, list(row))
    for number, model in _models(root.get("GPU Device list")):
        rates.gpu(0, number, model=model)
    unread = () if root else tuple(i for i, line in enumerate(section.lines) if line.strip())
    return Parsed(observations=tuple(rates.observations()), unread=unread)


def _rows(matrix: Any) -> Iterable[Iterable[Any]]:  # noqa: ANN401
    return (row for row in matrix if isinstance(row, list)) if isinstance(matrix, list) else ()


def _models(devices: Any) -> Iterator[tuple[int, str]]:  # noqa: ANN401
    """Number and model of ``0: NVIDIA H100 80GB HBM3 (00000000:18:00): (n1)``."""
    for item in devices if isinstance(devices, list) else ():
        found = re.match(r"(\d{1,3}): (.{3,80}?) \(", item) if isinstance(item, str) else None
        if found:
            yield int(found[1]), found[2].strip()
