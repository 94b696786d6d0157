"""``nvbandwidth``: what copies between GPUs, inside a GPU and to and from the host reach; as text and as JSON (``-j``).

Source of the format: NVIDIA/nvbandwidth v0.1 to v0.8 (output.cpp, json_output.cpp, inline_common.h, testcase.h). A cell
stands for the copy between the GPU of its row and that of its column; the names of the tests say which matrix it is.
The tests of several nodes number processes instead of GPUs and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded
from ncdiag.parsers._peer_rates import LARGEST, Rates

KIND = "nvbandwidth"
COMMANDS: tuple[str, ...] = ("nvbandwidth",)
_TEST = (
    r"(?:host_to_(?:device|all)|(?:device|all)_to_host|device_to_device|device_local|all_to_one|one_to_all|host_device"
    r"|multinode)_\w{1,60}"
)
_KEY = r'[ \t]*"nvbandwidth"\s?:[ \t]*\{?[ \t]*$'
ANCHOR = rf"nvbandwidth Version: v?\d|Running {_TEST}\.[ \t]*$|{_KEY}"

_RUNNING = re.compile(rf"Running (?P<test>{_TEST})\.\s*$")
_HEAD = re.compile(r"\s+(?:\d{1,4}\s+)*\d{1,4}\s*$")
_ROW = re.compile(r"\s*(?P<gpu>\d{1,4})(?P<cells>(?:\s+(?:N/A|\d{1,7}\.\d{1,3}))+)\s*$")
_TITLE = re.compile(r".{4,60} \((?:GB/s|ns)\)\s*$")
_DEVICE = re.compile(
    r"Device (?P<gpu>\d{1,3}): (?P<model>.{3,80}?) \((?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\)\s*$"
)
_WRONG = re.compile(r"\s?Invalid value when checking the pattern at ")
_OTHER = re.compile(
    r"\s*$|nvbandwidth Version|Built from Git|MPI version|NOTE: |Performance can vary|CUDA (?:Runtime|Driver) Version"
    r"|Driver Version: |(?:SUM|MIN|MAX|AVG) \w|Waiv(?:ed|ing)|WAIVED|Process \d"
)
_HOST = re.compile(r"(?P<host>[A-Za-z0-9][\w.-]{0,63})\s*$")
_ABOVE_HOST = "Driver Version: "
_JSON = re.compile(r"\s*\{?\s*$|" + _KEY)
_KINDS = (
    (re.compile(r"host_to_device_memcpy_"), "from_host_gb_per_s"),
    (re.compile(r"device_to_host_memcpy_"), "to_host_gb_per_s"),
    (re.compile(r"device_local_copy"), "local_gb_per_s"),
    (re.compile(r"device_to_device_memcpy_"), "peer_gb_per_s"),
    (re.compile(r"device_to_device_bidirectional_memcpy_"), "peer_both_gb_per_s"),
)
"""The field that the matrix of a test goes into; others measure many GPUs at once, or the time of one access."""
_PARTIAL = ("Read1", "Read2", "Write1", "Write2")
"""One direction of a copy in both, which the matrix ``Total`` adds up."""
_LINES = 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Titles, matrices and sums; of JSON what belongs to the object."""
    if _JSON.match(lines[0]):
        return not decoded.closed(lines[-1], line) and decoded.is_line(line)
    patterns = (_RUNNING, _HEAD, _ROW, _TITLE, _DEVICE, _WRONG, _OTHER)
    return len(lines) < _LINES and (any(pattern.match(line) for pattern in patterns) or _is_host(lines, line))


def _is_host(lines: Sequence[str], line: str) -> bool:
    """True for the name of the host, which is alone below the version of the driver."""
    above = next((text for text in reversed(lines[-2:]) if text.strip()), "")
    return above.startswith(_ABOVE_HOST) and _HOST.match(line) is not None


def parse(section: Section) -> Parsed:
    """Links and GPUs with GB/s, the worse of the two directions; a test that found wrong data as a failed check."""
    if section.lines and _JSON.match(section.lines[0]):
        return _parse_json(section)
    rates = Rates(section)
    checks: dict[str, Observation] = {}
    unread: list[int] = []
    test, field = "", ""
    for index, line in enumerate(section.lines):
        if found := _RUNNING.match(line):
            test, field = found["test"], _field(found["test"])
        elif _WRONG.match(line):
            checks.setdefault(test, _failed(section, index, test, line.strip()))
        elif found := _ROW.match(line):
            _take(rates, field, index, int(found["gpu"]), found["cells"].split())
        elif found := _DEVICE.match(line):
            rates.gpu(index, int(found["gpu"]), model=found["model"].strip())
        elif _TITLE.match(line):
            field = "" if any(word in line for word in _PARTIAL) else _field(test)
        elif _is_host(section.lines[max(0, index - 2) : index], line):
            rates.host = section.host or line.strip()
        elif not _HEAD.match(line) and not _OTHER.match(line):
            unread.append(index)
    return Parsed(observations=(*rates.observations(), *checks.values()), unread=tuple(unread))


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


def _failed(section: Section, index: int, test: str, text: str) -> Observation:
    return observe(
        section, index, "HealthCheck", program="nvbandwidth", name=test or "a copy", result="fail", message=text
    )  # fmt: skip


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
