"""The JSON form of a RAS report and of its notifications (NCCL src/ras/client_support.cc, 2.28.7 and later).

The report holds what each rank said; what the text form works out (ranks that differ, that are missing) is worked out
here in the same words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import decoded, relaxed_json
from ncdiag.parsers import _ras_text

_HEAD = r'\s{0,8}\{?\s{0,8}"(?:nccl_version"\s?:\s?"\d|cuda_runtime_version"\s?:\s?\d|timestamp"\s?:\s?"\d{4}-)'
ANCHOR = (
    r'\s{0,8}"nccl_version": "\d[^"]{0,40}",[ \t]*$|\s{0,8}"cuda_runtime_version": \d{1,9},[ \t]*$'
    r'|\s{0,8}"timestamp": "\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",[ \t]*$'
    r'|\{\s?"nccl_version"\s?:\s?"\d[^"]{0,40}"\s?,\s?"cuda_runtime_version"'
    r'|\{\s?"timestamp"\s?:\s?"[\d :-]{1,40}"\s?,\s?"group"\s?:\s?"(?:LIFECYCLE|TRACE)"'
)

_FIRST = lazy_regex(rf"{_HEAD}|\s{{0,8}}\{{\s*$")
_NEXT = {
    "nccl_version": lazy_regex(r'\s*"cuda_runtime_version"'),
    "timestamp": lazy_regex(r'\s*"(?:group"\s?:\s?"(?:LIFECYCLE|TRACE)"|communicators_count")'),
}
_LIKE_JSON = lazy_regex(r"\s*(?:[{}\[\]\",]|-?\d|true|false|null|$)")
_ERRORS = {
    1: "Unhandled CUDA error", 2: "System error", 3: "Internal error", 4: "Invalid argument", 5: "Invalid usage",
    6: "Remote process error",
}  # fmt: skip
_LONG = 1e9
"""Seconds that no report takes."""
_PENDING = 7
"""ncclInProgress."""
_LISTED = 10
_MINORITY = 4
"""The text form lists the ranks of a group of at most ten, and of at most a quarter of the communicator."""


class Json(msgspec.Struct):
    """The fields of a RasReport, or a notification; neither where the text is something else."""

    report: dict[str, Any]
    event: _ras_text.Notification | None = None


def is_json(line: str) -> bool:
    """Does a section that begins with this line hold JSON?"""
    return _FIRST.match(line) is not None


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines that look like JSON, to the brace in the first column; the second line shows whether it is RAS's."""
    if decoded.closed(lines[-1], line) or (
        len(lines) == 1 and lines[0].startswith("{") and lines[0].rstrip().endswith("}")
    ):
        return False
    if not line.strip():
        return True
    if not any(text.strip() for text in lines[1:]):
        key = re.match(r'\s*"(\w{1,40})"', lines[0])
        following = _NEXT.get(key[1]) if key else None
        if following is not None and not following.match(line):
            return False
    return _LIKE_JSON.match(line) is not None


def read(text: str) -> Json:
    """The report or notification in the text."""
    text = text.strip()
    value = _loads(text if text.startswith("{") else "{" + text)
    if "event" in value and isinstance(value["event"], str) and value.get("group") in {"LIFECYCLE", "TRACE"}:
        return Json({}, _notification(value))
    if "communicators" not in value and "cuda_runtime_version" not in value:
        return Json({})
    return Json(_report(value))


def _loads(text: str) -> dict[str, Any]:
    """The object; what is left of one that was cut off or edited."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        value = relaxed_json.loads(text).value
    return value if isinstance(value, dict) else {}


def _notification(value: dict[str, Any]) -> _ras_text.Notification:
    peer = decoded.table(value.get("peer"))
    node = decoded.text(peer.get("host")) or decoded.text(peer.get("addr"))
    devices = peer.get("cuda_devs")
    gpus = tuple(d for d in devices if _is_int(d)) if isinstance(devices, list) else ()
    return _ras_text.Notification(
        event=value["event"][:60], time=_ras_text.moment(str(value.get("timestamp"))), group=value["group"], node=node,
        pid=_int(peer.get("pid")), gpus=gpus, details=(decoded.text(value.get("details")) or "")[:300] or None,
    )  # fmt: skip


def _report(value: dict[str, Any]) -> dict[str, Any]:
    ras = decoded.table(value.get("ras"))
    seconds = ras.get("collection_time_sec")
    comms = [comm for comm in decoded.tables(value.get("communicators")) if _hash(comm) is not None]
    fields: dict[str, Any] = {
        "format": "json", "nccl_version": decoded.text(value.get("nccl_version")),
        "cuda_runtime": _int(value.get("cuda_runtime_version")), "cuda_driver": _int(value.get("cuda_driver_version")),
        "timestamp": decoded.text(value.get("timestamp")), "timeouts": _int(ras.get("timeouts_count")),
        "seconds": float(seconds) if isinstance(seconds, int | float) and abs(seconds) < _LONG else None,
        "communicators": [_communicator(comm) for comm in comms],
        "processes": [process for comm in comms for process in _processes(comm)],
        "problems": [problem for comm in comms for problem in _problems(comm)],
    }  # fmt: skip
    fields["processes"] = list({(p["node"], p["pid"]): p for p in fields["processes"]}.values())
    return {name: field for name, field in fields.items() if field is not None}


def _communicator(comm: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "hash": _hash(comm), "size": _int(comm.get("size")), "answered": _int(comm.get("ranks_count")),
        "missing": _int(comm.get("missing_ranks_count")),
    }  # fmt: skip
    return {name: field for name, field in fields.items() if field is not None}


def _processes(comm: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Processes of ranks that RAS did not reach."""
    for rank in _ranks(comm, "missing_ranks"):
        status = decoded.table(rank.get("status"))
        pid, node, gpu = _int(rank.get("pid")), decoded.text(rank.get("host")), _int(rank.get("cuda_dev"))
        dead = status.get("considered_dead") is True
        if pid is not None and node is not None and (dead or status.get("unresponsive") is True):
            state = "dead" if dead else "missing"
            yield {"pid": pid, "node": node, "gpus": [] if gpu is None else [gpu], "state": state}


def _problems(comm: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name = {"hash": _hash(comm)}
    missing = [_rank(rank) for rank in _ranks(comm, "missing_ranks")]
    if missing:
        share = {"value": "missing", "count": len(missing), "ranks": missing}
        yield {**name, "kind": "INCOMPLETE", "what": "missing", "missing_count": len(missing), "shares": [share]}
    ranks = _ranks(comm, "ranks")
    for what, key in (("init", "init_state"), ("async", "async_error")):
        failed = [rank for rank in ranks if (_int(_status(rank, key)) or 0) not in {0, _PENDING}]
        if failed:
            shares = _shares(failed, len(ranks), lambda rank, key=key: _error(_status(rank, key)))
            yield {**name, "kind": "ERROR", "what": what, "shares": shares}
    told = [rank for rank in ranks if _status(rank, "abort_flag") is not None]  # the last key: nothing was cut off
    states = _shares(told, len(ranks), _state)
    if len(states) > 1:
        yield {**name, "kind": "MISMATCH", "what": "status", "shares": states}
    for collective in dict.fromkeys(word for rank in ranks for word in _counts(rank)):
        counted = [rank for rank in ranks if collective in _counts(rank)]
        shares = _shares(counted, len(ranks), lambda rank, word=collective: str(_counts(rank)[word]))
        if len(shares) > 1:
            shares = [{**share, "operation": int(share["value"])} for share in shares]
            late = _ras_text.behind(shares)
            last = {} if late is None else {"behind": late}
            yield {
                **name, "kind": "MISMATCH", "what": "operations", "collective": collective, "shares": shares, **last,
            }  # fmt: skip


def _shares(ranks: Sequence[dict[str, Any]], total: int, value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Ranks by what ``value`` gives for them, the largest group first; small groups with their ranks."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for rank in ranks:
        groups[value(rank)].append(rank)
    found = []
    for word, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        listed = len(members) <= _LISTED and (len(members) * _MINORITY <= total or total <= _LISTED)
        found.append({"value": word, "count": len(members), "ranks": [_rank(m) for m in members] if listed else []})
    return found


def _state(rank: dict[str, Any]) -> str:
    """The words of the text form (client_support.cc, rasClientRunComms)."""
    if _status(rank, "abort_flag") is True:
        return "ABORT"
    if _status(rank, "finalize_called") is True or _status(rank, "destroy_flag") is True:
        return "FINALIZE"
    return "INIT" if _status(rank, "init_state") else "RUNNING"


def _error(code: Any) -> str:  # noqa: ANN401
    return _ERRORS.get(code, "Unexpected error")


def _rank(rank: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "rank": rank["rank"], "gpu": _int(rank.get("cuda_dev")), "pid": _int(rank.get("pid")),
        "node": decoded.text(rank.get("host")),
    }  # fmt: skip
    return {name: field for name, field in fields.items() if field is not None}


def _ranks(comm: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [rank for rank in decoded.tables(comm.get(key)) if _is_int(rank.get("rank"))]


def _status(rank: dict[str, Any], key: str) -> Any:  # noqa: ANN401
    return decoded.table(rank.get("status")).get(key)


def _counts(rank: dict[str, Any]) -> dict[str, int]:
    counts = decoded.table(rank.get("collective_counts"))
    return {word: count for word, count in counts.items() if _is_int(count)}


def _hash(comm: dict[str, Any]) -> str | None:
    """As the text form prints it: 16 digits without 0x."""
    found = re.fullmatch(r"0x([0-9a-fA-F]{1,16})", str(comm.get("hash")))
    return found[1].lower().rjust(16, "0") if found else None


def _is_int(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _int(value: Any) -> int | None:  # noqa: ANN401
    return value if _is_int(value) else None
