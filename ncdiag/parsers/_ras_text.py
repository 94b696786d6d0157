"""The text form of a RAS report (NCCL src/ras/client_support.cc, 2.24.3 to 2.30): tables, then blocks of problems.

Up to 2.25 a status that no rank told is UNKNOWN (NOCOMM later), counts are those of all collectives together, and
missing ranks are in one line; since 2.26 each has a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

_HASH = r"#\d{1,6}-\d{1,6} \([0-9a-f]{8,16}\) (?:INCOMPLETE|ERROR|MISMATCH)"
_STAMP = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] PEER_[A-Z_]{2,40}:"
_TABLE = r"Group\s{1,12}Comms\s{1,12}Nodes\s{1,12}Ranks\s{1,12}Ranks\s{1,12}Ranks\s{1,12}Status\s{1,12}Errors"
ANCHOR = (
    rf"{_HASH}[ \t]*$|{_STAMP}|[ \t]{{0,8}}{_TABLE}|Communicators\.\.\.(?: \(\d{{1,9}}\.\d{{2,3}}s\))?[ \t]*$"
    r"|CUDA runtime version \d{4,6}, driver version \d{4,6}[ \t]*$|(?:DEAD|INCOMPLETE)[ \t]*$"
    r"|NCCL version \d\S{1,40} compiled with CUDA \d+\.\d+[ \t]*$|RAS Monitor Mode - watching for peer changes"
    r"|[ \t]{0,8}\d{1,9} job process(?:es are| is) considered dead \(unreachable"
    r"|[ \t]{0,8}Nodes  Processes(?:         GPUs)?(?:  Processes     GPUs)?[ \t]*$"
    r"|[ \t]{0,8}Missing communicator data from \d{1,9} (?:job process|rank)"
    r"|Gathering data about the (?:RAS network|NCCL communicators) \(timeout "
)

_NUMBER = r"(\d{1,15})"
_WHERE = (
    r" -- (?:GPUs? (?P<gpu>\d{1,4})(?: \(NVML [\d,]{1,60}\))? managed by process (?P<pid>\d{1,10})"
    r" on node (?P<node>\S{1,128})|\[process information not found\])"
)
_RANK = lazy_regex(
    r"Rank (?P<rank>\d{1,9})(?: has (?:status (?P<status>[A-Z]{1,20})|launched up to operation (?P<operation>\d{1,18})"
    rf"|(?P<none>not launched any operations))| reported (?P<error>[A-Za-z ]{{1,60}}?))?{_WHERE}$"
)
_PROCESS = lazy_regex(
    r"Process (?P<pid>\d{1,10}) on node (?P<node>\S{1,128}) managing GPUs? (?P<gpus>[\d,]{1,200})"
    r"(?: \(NVML [\d,]{1,200}\))?(?: (?P<details>.{1,300}))?$"
)
_EVENT = lazy_regex(r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] (?P<event>PEER_[A-Z_]{2,40}): ?(?P<rest>.*)$")
_ROW = lazy_regex(
    rf"{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}(?:-{_NUMBER})?\s+{_NUMBER}\s+{_NUMBER}\s+([A-Z]{{2,20}})"
    r"(?:\s+([A-Z,]{2,60}))?$"
)
_JOB_ROW = lazy_regex(r"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})$")
_TOTALS = lazy_regex(r"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})$")
_COLUMNS = lazy_regex(r"[\d\s]{1,80}$")
_VERSION = lazy_regex(r"NCCL version (\d\S{1,40}) compiled with CUDA")
_CUDA = lazy_regex(r"CUDA runtime version (\d{4,6}), driver version (\d{4,6})")
_SECONDS = lazy_regex(r"Communicators\.\.\.(?: \((\d{1,9}\.\d{1,3})s\))?$")
_BLOCK = lazy_regex(r"#(\d{1,6}-\d{1,6}) \(([0-9a-f]{8,16})\) (INCOMPLETE|ERROR|MISMATCH)$")
_KIND = lazy_regex(r"(?P<kind>INCOMPLETE|DEAD|TIMEOUT)$|\d{1,9} job process(?:es are| is) considered dead ")
_TIMEOUTS = lazy_regex(r"Encountered (\d{1,9}) communication timeouts? while gathering communicator data$")
_MISSING = lazy_regex(r"Missing communicator data from (\d{1,9}) (ranks?|job process(?:es)?)$")
_MISSING_RANKS = lazy_regex(r"The missing ranks?: ([\d,\s]{1,4000})$")
_DIFFER = lazy_regex(r"Communicator ranks have different (status|(?:(collective|[A-Z]\w{1,40}) )?operation counts)$")
_FAILED = lazy_regex(r"(Initialization|Asynchronous) errors? on (\d{1,9}) ranks?$")
_SHARE = lazy_regex(
    r"(\d{1,9}) ranks? (?:(?:has|have) (?:status ([A-Z]{1,20})|launched up to operation (\d{1,18})"
    r"|(not launched any operations))|reported ([A-Za-z ]{1,60}))$"
)
_CHATTER = lazy_regex(
    r"[=-]{3,80}$|Job summary$|(?:Errors|Warnings)$|#\s+in group\s|\(total\)\s|per node\s|per process\s*$"
    rf"|Nodes\s+Processes|Processes\s+GPUs$|{_TABLE}$|The (?:outlier nodes?|missing process(?:es)?|affected conn\w*):$"
    r"|\[could not find information on \d{1,9} process|No (?:communicator|connection) data collected!$"
    r"|Gathering data about the |obtained a result in |Warning: (?:encountered|missing data from|negative travel) "
    r"|Collected data about \d{1,9} unidirectional|Travel times \(valid only|Minimum -?\d.{1,80}, average "
    r"|indicating that the system clocks|Ordering of events based on local|From node \S{1,128} process \d{1,10} to "
    r"|RAS Monitor Mode - |Monitoring stopped by user|Connection closed by the NCCL job|SERVER PROTOCOL \d{1,4}$|OK$"
)
_NODE = lazy_regex(r"Node (\S{1,128}) running process(?:es)? [\d,]{1,4000}$")
_LONGEST = 5000


class Notification(msgspec.Struct, frozen=True):
    """A change that monitor mode tells; ``time`` in seconds since the epoch, the host's clock taken for UTC."""

    event: str
    time: float | None = None
    group: str | None = None
    node: str | None = None
    pid: int | None = None
    gpus: tuple[int, ...] = ()
    details: str | None = None


class Text(msgspec.Struct):
    """What was read: the fields of a RasReport (empty when there is none) and notifications with their lines."""

    report: dict[str, Any]
    events: list[tuple[int, Notification]]
    unread: list[int]


def known(line: str) -> bool:
    """Is it a line of a report or of monitor mode?"""
    text = line.strip()
    return len(text) < _LONGEST and any(pattern.match(text) for pattern in _KNOWN)


def moment(text: str) -> float | None:
    """``2025-12-19 13:07:07`` in seconds since the epoch."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()
    except (ValueError, OverflowError):
        return None


def read(lines: Sequence[str]) -> Text:
    """Read a report, the lines of monitor mode, or both."""
    reader = _Reader()
    unread = [i for i, line in enumerate(lines) if line.strip() and not reader.take(i, line.strip())]
    return Text(reader.report(), reader.events, unread)


def behind(shares: Sequence[Mapping[str, Any]]) -> list[int] | None:
    """The listed ranks that launched fewer operations than the ranks that are furthest; None where counts are missing.

    None as well when nobody of those behind is listed: they may be many.
    """
    counts = [share.get("operation") for share in shares]
    told = [count for count in counts if count is not None]
    if len(told) < len(counts) or len(set(told)) < 2:  # noqa: PLR2004  (it takes two to differ)
        return None
    late = [rank["rank"] for share in shares if share["operation"] < max(told) for rank in share.get("ranks", ())]
    return sorted(late) or None


class _Reader:
    """A report while it is being read: the block that lines belong to is the last one that was opened."""

    def __init__(self) -> None:
        self.events: list[tuple[int, Notification]] = []
        self._fields: dict[str, Any] = {}
        self._groups: list[dict[str, Any]] = []
        self._processes: list[dict[str, Any]] = []
        self._problems: list[dict[str, Any]] = []
        self._kind = ""
        self._block: dict[str, Any] = {}

    def report(self) -> dict[str, Any]:
        """The fields of the report; empty when only notifications were there."""
        for problem in self._problems:
            if problem.get("what") == "operations":
                late = behind(problem["shares"])
                if late is not None:
                    problem["behind"] = late
        lists = {"groups": self._groups, "processes": self._processes, "problems": self._problems}
        fields = {**self._fields, **{name: items for name, items in lists.items() if items}}
        return {"format": "text", **fields} if fields else {}

    def take(self, index: int, text: str) -> bool:
        """Read one line; False when it is none of a report."""
        if len(text) >= _LONGEST:
            return False
        event = _EVENT.match(text)
        if event:
            self.events.append((index, _notification(event)))
            return True
        for pattern, method in _METHODS:
            found = pattern.match(text)
            if found:
                method(self, found)
                return True
        return _CHATTER.match(text) is not None or _COLUMNS.match(text) is not None

    def _version(self, found: re.Match[str]) -> None:
        self._fields["nccl_version"] = found[1]

    def _cuda(self, found: re.Match[str]) -> None:
        self._fields |= {"cuda_runtime": int(found[1]), "cuda_driver": int(found[2])}

    def _seconds(self, found: re.Match[str]) -> None:
        if found[1]:
            self._fields["seconds"] = float(found[1])

    def _job_row(self, found: re.Match[str]) -> None:
        nodes, _, _, processes, gpus = map(int, found.groups())
        self._fields |= {"nnodes": nodes, "nprocesses": processes, "ngpus": gpus}

    def _totals(self, found: re.Match[str]) -> None:
        """The totals of an uneven job come last, so that they overwrite the rows above them."""
        self._fields |= dict(zip(("nnodes", "nprocesses", "ngpus"), map(int, found.groups()), strict=True))

    def _group(self, found: re.Match[str]) -> None:
        number, comms, nodes, low, high, size, ranks = (None if g is None else int(g) for g in found.groups()[:7])
        errors = [] if found[9] in {None, "OK"} else found[9].split(",")
        row = {
            "number": number, "comms": comms, "nodes_per_comm": nodes, "ranks_per_node_min": low,
            "ranks_per_node_max": low if high is None else high, "ranks_per_comm": size, "ranks": ranks,
            "status": found[8], "errors": errors,
        }  # fmt: skip
        self._groups.append(row)

    def _open_kind(self, found: re.Match[str]) -> None:
        self._kind, self._block = found["kind"] or "DEAD", {}

    def _open_block(self, found: re.Match[str]) -> None:
        self._kind = ""
        self._block = {"label": found[1], "hash": found[2].rjust(16, "0"), "kind": found[3]}

    def _problem(self, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        """One more problem of the open block (a communicator can have several)."""
        problem = {"kind": "INCOMPLETE", **self._block, "shares": [], **fields}
        self._problems.append(problem)
        return problem

    def _current(self) -> dict[str, Any] | None:
        return self._problems[-1] if self._problems else None

    def _missing(self, found: re.Match[str]) -> None:
        if found[2].startswith("rank"):
            self._problem(kind="INCOMPLETE", what="missing", missing_count=int(found[1]))
        else:
            self._kind = "INCOMPLETE"

    def _missing_ranks(self, found: re.Match[str]) -> None:
        problem = self._current()
        if problem is None or problem["what"] != "missing":
            problem = self._problem(kind="INCOMPLETE", what="missing")
        ranks = [{"rank": int(word)} for word in re.findall(r"\d{1,9}", found[1])]
        problem["shares"].append({"value": "missing", "count": len(ranks), "ranks": ranks})

    def _differ(self, found: re.Match[str]) -> None:
        if found[1] == "status":
            self._problem(kind="MISMATCH", what="status")
        else:
            named = {} if found[2] in {None, "collective"} else {"collective": found[2]}
            self._problem(kind="MISMATCH", what="operations", **named)

    def _failed(self, found: re.Match[str]) -> None:
        self._problem(kind="ERROR", what="init" if found[1] == "Initialization" else "async")

    def _share(self, found: re.Match[str]) -> None:
        count, status, operation, none, error = found.groups()
        problem = self._current()
        if problem is not None:
            problem["shares"].append({"count": int(count), **_value(status, operation, none, error), "ranks": []})

    def _rank(self, found: re.Match[str]) -> None:
        """A rank with a value of its own is the whole group; one without belongs to the group above."""
        problem = self._current()
        if problem is None:
            return
        rank: dict[str, Any] = {"rank": int(found["rank"])}
        if found["pid"]:
            rank |= {"gpu": int(found["gpu"]), "pid": int(found["pid"]), "node": found["node"]}
        values = found["status"], found["operation"], found["none"], found["error"]
        if any(values):
            problem["shares"].append({"count": 1, **_value(*values), "ranks": [rank]})
            return
        if not problem["shares"] and problem["what"] == "missing":
            problem["shares"].append({"value": "missing", "count": problem.get("missing_count", 1), "ranks": []})
        if problem["shares"]:
            problem["shares"][-1]["ranks"].append(rank)

    def _process(self, found: re.Match[str]) -> None:
        process = {"pid": int(found["pid"]), "node": found["node"], "gpus": _numbers(found["gpus"])}
        self._processes.append({**process, "state": "dead" if self._kind == "DEAD" else "missing"})

    def _outlier(self, found: re.Match[str]) -> None:
        """A node with another number of processes than most."""
        self._fields.setdefault("outlier_nodes", []).append(found[1])

    def _timeouts(self, found: re.Match[str]) -> None:
        self._fields["timeouts"] = int(found[1])

    handlers: tuple[tuple[re.Pattern[str], Callable[[Any, re.Match[str]], None]], ...] = (
        (_RANK, _rank), (_PROCESS, _process), (_SHARE, _share), (_BLOCK, _open_block), (_ROW, _group),
        (_KIND, _open_kind), (_VERSION, _version), (_CUDA, _cuda), (_SECONDS, _seconds), (_TIMEOUTS, _timeouts),
        (_MISSING, _missing), (_MISSING_RANKS, _missing_ranks), (_DIFFER, _differ), (_FAILED, _failed),
        (_JOB_ROW, _job_row), (_TOTALS, _totals), (_NODE, _outlier),
    )  # fmt: skip


_METHODS = _Reader.handlers
_KNOWN = (_EVENT, *(pattern for pattern, _ in _METHODS), _CHATTER, _COLUMNS)


def _value(status: str | None, operation: str | None, none: str | None, error: str | None) -> dict[str, Any]:
    if operation is not None or none is not None:
        number = int(operation or 0)
        return {"value": str(number), "operation": number}
    return {"value": status or (error or "").strip()}


def _numbers(text: str) -> list[int]:
    return [int(word) for word in re.findall(r"\d{1,9}", text)]


def _notification(found: re.Match[str]) -> Notification:
    rest = found["rest"].strip()
    process = _PROCESS.match(rest)
    told: dict[str, Any] = {"details": rest[:300] or None}
    if process:
        told = {
            "node": process["node"], "pid": int(process["pid"]), "gpus": tuple(_numbers(process["gpus"])),
            "details": process["details"],
        }  # fmt: skip
    return Notification(found["event"], moment(found["time"]), **told)
