"""Output of nccl-tests and rccl-tests (src/common.cu, 2.0 to 2.17): header, device list, table, summary.

The table's head names the columns; releases differ in them (``error`` became ``#wrong``, ``redop`` and ``root`` are
there for some collectives only, some builds add ``#iters``, 2.19 has per-iteration columns and a time).
A row below no head is read by its number of columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import Version, bus_id
from ncdiag.formats import basics
from ncdiag.parsers import _nccl_tests_json, _program
from ncdiag.parsers._rows import Reading, Row, Rows, not_understood

KIND = "nccl_tests"
COMMANDS = tuple(
    f"{name}_perf"
    for name in (
        "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall", "sendrecv", "gather",
        "scatter", "hypercube",
    )
)  # fmt: skip
LAUNCHED = True
INTERLEAVED = True  # NCCL writes its own lines between the head and the rows
_TYPES = r"(?:u?int(?:8|32|64)|float|double|half|bfloat16|char|f(?:p)?8e[45]m[23]|fp8_e[45]m[23])"
ANCHOR = (
    r"#?\s*nThread \d+ nGpus \d+ |#?\s*nccl-tests version \S+ nccl-headers=\d"
    r"|#? ?Collective test starting: |# +Using devices"
    r"|#?\s*Rank\s+\d+ +(?:Group\s+\d+ +)?Pid\s+\d+ on "
    rf"|{_nccl_tests_json.ANCHOR}"
    rf"|#?\s*size\s+count\s+type\s|#?\s*out-of-place\s+in-place|\s{{0,20}}\d{{1,14}}\s+\d{{1,14}}\s+{_TYPES}\s"
)
FREQUENT = {
    "count": "between size and type in the heading, which are in as many lines",
    "Rank": "only numbers and short words follow it in the lines of the ranks",
}

_HEADER = (
    r"#?\s*nThread (?P<nthreads>\d{1,6}) nGpus (?P<gpus_per_process>\d{1,6}) minBytes (?P<min_bytes>\d{1,15}) "
    r"maxBytes (?P<max_bytes>\d{1,15}) .*?iters: \d{1,9} iters: (?P<iterations>\d{1,9})(?: agg iters: \d{1,9})? "
    r"validation: (?P<validation>\d{1,6})"
)
_PROGRAM = lazy_regex(r"\b((?:[a-z]+_){1,3}perf)\b")
_RANK = (
    r"#?\s*Rank\s+(?P<rank>\d{1,7})\s+(?:Group\s+\d{1,7}\s+)?Pid\s+(?P<pid>\d{1,9})\s+on\s+(?P<host>[\w.-]{1,128})\s+"
    r"device\s+(?P<device>\d{1,4})\s+\[(?P<bus>[\w:.]{1,20})\](?:\s+(?P<model>\S.{0,100}))?"
)
_ROW = rf"\s*\d{{1,14}}\s+\d{{1,14}}\s+{_TYPES}\s"
_REST = r"\s*(?:(?:-?[\d.]{1,20}(?:e[+-]\d{1,3})?|-?inf|-?nan|N/A)(?:\s+|$)){1,20}$"
"""What may be the rest of a row of which the beginning is in another line: NCCL broke it apart."""
_CHATTER = (
    r"#?\s*(?:$|Using devices|out-of-place|\(B\)|Collective test (?:starting|concluded)|Reporting "
    r"|rccl-tests: Version\b|Errors with asterisks indicate errors)"
)
_IS_ROW, _IS_REST = lazy_regex(_ROW), lazy_regex(_REST)
_KNOWN_HEAD = ("size", "count", "type")
_MEASURES = {
    "time": "time_us",
    "cputime": "time_us",
    "algbw": "algbw",
    "busbw": "busbw",
    "#wrong": "wrong",
    "error": "error",
}


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of comment, rows, and lines that say that some were left out; lines of JSON in a file of ``-J``."""
    if _nccl_tests_json.starts(lines[0]):
        return _nccl_tests_json.continues(lines, line)
    return _ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """One Benchmark for each head or table, and the ranks and GPUs of the device list."""
    if section.lines and _nccl_tests_json.starts(section.lines[0]):
        found = _nccl_tests_json.read(section)
        return Parsed(observations=tuple(found), unread=() if found else tuple(range(len(section.lines))))
    return _ROWS.parse(section)


class _Run:
    """One run of a test while it is being read."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.fields: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.ranks: dict[int, str] = {}
        self.unreadable = 0

    def observation(self, section: Section) -> Observation:
        """The Benchmark of this run, with its ranks if they are listed from 0 on.

        Of a list of one host from which lines were left out, the last rank says how many there are.
        """
        fields = dict(self.fields)
        if self.ranks and set(self.ranks) == set(range(len(self.ranks))):
            fields["nranks"], fields["nhosts"] = len(self.ranks), len(set(self.ranks.values()))
        elif 0 in self.ranks and len(set(self.ranks.values())) == 1:
            fields["nranks"], fields["nhosts"] = max(self.ranks) + 1, 1
        return observe(section, self.index, "Benchmark", rows=self.rows, unreadable_rows=self.unreadable, **fields)


class _Runs(Reading):
    """All runs of a section."""

    def __init__(self, section: Section) -> None:
        """No run has begun."""
        super().__init__(section)
        self.runs: list[_Run] = []
        program = _PROGRAM.search(section.command or "")
        self.program = program[1] if program else None
        self.version: str | None = None
        self.begun: tuple[int, str] | None = None  # the line and the text of a row that lacks columns

    def row(self, _: re.Match[str]) -> bool:
        """A row of the table."""
        return self._row(self.index, self.line)

    def rest(self, _: re.Match[str]) -> bool:
        """The rest of the row above; False where that has all its columns."""
        return self.begun is not None and self._row(self.begun[0], f"{self.begun[1]} {self.line}")

    def header(self, found: re.Match[str]) -> None:
        """What is printed first of a run."""
        self._begin().fields |= {name: int(value) for name, value in found.groupdict().items()}

    def rank(self, found: re.Match[str]) -> None:
        """A rank of the device list."""
        host = found["host"].split(".", 1)[0]
        rank, device = int(found["rank"]), int(found["device"])
        run = self._current()
        if run.rows or rank in run.ranks:
            run = self._begin()
        run.ranks[rank] = host
        address = bus_id(found["bus"])  # many releases print the bus number alone ([0x1a]), which names no domain
        self.observe("Rank", (int(found["pid"]), device), host=host, rank=rank, bus_id=address)
        if found["model"]:
            self.observe("Gpu", (address or device,), host=host, model=found["model"].strip())

    def columns(self, found: re.Match[str]) -> None:
        """The head of a table; a second one after rows or a summary begins another run."""
        run = self._current()
        if run.rows or run.unreadable or "average_busbw" in run.fields:
            run = self._begin()
        run.fields["columns"] = found[1].split()

    def bounds(self, found: re.Match[str]) -> None:
        """How many values were wrong."""
        self._put(out_of_bounds=int(found[1]), out_of_bounds_ok=_verdict(found[2]))

    def average(self, found: re.Match[str]) -> None:
        """The bandwidth over all rows."""
        again = self._current().fields.get("average_busbw") is not None
        summaries = self._current().fields.get("summaries", 1) + 1 if again else None
        self._put(average_busbw=_float(found[1]), average_ok=_verdict(found[2]), summaries=summaries)

    def library(self, found: re.Match[str]) -> None:
        """The release of NCCL that runs."""
        self.version = str(Version.from_code(int(found["code"])))

    def starting(self, _: re.Match[str]) -> None:
        """The program."""
        found = _PROGRAM.search(self.line)
        self.program = found[1] if found else self.program

    def end(self) -> None:
        """Benchmarks first, then the device list, then what the catalogue knows of the other lines."""
        runs = [run for run in self.runs if run.rows or run.fields or run.ranks or run.unreadable]
        rest = _program.leftovers(self.section, self.unread)
        self.found = [*(run.observation(self.section) for run in runs), *self.found, *rest.observations]
        self.unread = list(rest.unread)

    def _begin(self, index: int | None = None) -> _Run:
        run = _Run(self.index if index is None else index)
        if self.program:
            run.fields["program"] = self.program
        if self.version:
            run.fields["nccl_version"] = self.version
        self.runs.append(run)
        return run

    def _current(self, index: int | None = None) -> _Run:
        return self.runs[-1] if self.runs else self._begin(index)

    def _put(self, **fields: float | bool | None) -> None:
        self._current().fields |= {name: value for name, value in fields.items() if value is not None}

    def _row(self, index: int, line: str) -> bool:
        words = line.split()
        run = self._current(index)
        names = run.fields.get("columns")
        self.begun = (index, line) if names and len(_KNOWN_HEAD) <= len(words) < len(names) else None
        if names and names[-1] == "timestamp" and len(words) == len(names) + 1:
            words = [*words[:-2], f"{words[-2]} {words[-1]}"]
        if names is None or len(names) != len(words):
            names = _guessed(words, is_cut=names is None)
        if names is None:
            return self.begun is not None
        self.begun = None
        row = _values(names, words)
        if row.get("time_us") is None and row.get("in_place_time_us") is None:
            run.unreadable += 1
        else:
            run.rows.append(row)
        return True


def _is_comment(_lines: Sequence[str], line: str) -> bool:
    return line.lstrip().startswith("#")


def _goes_on(lines: Sequence[str], line: str) -> bool:
    """True below a row, of which the line may be the rest, and below what is itself such a rest."""
    return basics.is_elision(line) or any(pattern.match(lines[-1]) for pattern in (_IS_ROW, _IS_REST))


_ROWS = Rows(
    _Runs,
    Row(_ROW, _Runs.row),
    Row(_REST, _Runs.rest, belongs=_goes_on),
    Row(_HEADER, _Runs.header),
    Row(r"#?\s*nThread (?P<nthreads>\d{1,6}) nGpus (?P<gpus_per_process>\d{1,6}) ", _Runs.header),
    Row(_RANK, _Runs.rank),
    Row(r"#?\s*(size\s+count\s+type\s.*)", _Runs.columns, belongs=_is_comment),
    Row(r"#?\s*Out of bounds values\s*:\s*(\d{1,15})\s*(OK|FAILED)?", _Runs.bounds, belongs=_is_comment),
    Row(r"#?\s*Avg bus bandwidth\s*:\s*([\d.]{1,20}|\S+)\s*(OK|FAILED)?", _Runs.average, belongs=_is_comment),
    Row(r"#?\s*nccl-tests version \S{1,40} nccl-headers=\d{1,9} nccl-library=(?P<code>\d{4,6})\b", _Runs.library),
    Row(r"#?\s*Collective test starting", _Runs.starting),
    Row(r".*?Collective test starting", _Runs.starting, belongs=_is_comment),
    Row(_CHATTER),
    Row(basics.is_elision),
    Row(r"\s*#", not_understood),
)


def _guessed(words: Sequence[str], *, is_cut: bool) -> list[str] | None:
    """Column names of a row that is below no head; ``is_cut``: it may end after the measures out of place."""
    four = ["time", "algbw", "busbw", "#wrong"]
    if len(words) <= len(_KNOWN_HEAD):
        return None
    one = ["root" if words[3].lstrip("-").isdigit() else "redop"]
    middle = {11: [], 12: one, 13: ["redop", "root"]}
    half = {8: one, 9: ["redop", "root"]}
    if is_cut and len(words) in half:
        return [*_KNOWN_HEAD, *half[len(words)], *four]
    extra = middle.get(len(words))
    return None if extra is None else [*_KNOWN_HEAD, *extra, *four, *four]


def _values(names: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """The row as fields of a BenchmarkRow; the second set of measures is the in-place one."""
    row: dict[str, Any] = {}
    seen: set[str] = set()
    for name, word in zip(names, words, strict=True):
        field = _MEASURES.get(name)
        if field is not None:
            place = f"in_place_{field}" if name in seen else field
            seen.add(name)
            row[place] = basics.number(word) if field == "wrong" else _float(word)
        elif name in _PLAIN:
            target, convert = _PLAIN[name]
            row[target] = convert(word)
    return {name: value for name, value in row.items() if value is not None}


def _text(word: str) -> str | None:
    return None if word == "none" else word


_PLAIN: Mapping[str, Any] = {
    "size": ("size", basics.number), "count": ("count", basics.number), "type": ("datatype", _text),
    "redop": ("redop", _text), "root": ("root", basics.number), "#iters": ("iterations", basics.number),
}  # fmt: skip


def _float(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None  # noqa: PLR0124  (NaN is unequal to itself)


def _verdict(word: str | None) -> bool | None:
    return None if word is None else word == "OK"
