"""torchrun's summary of failed workers (torch/distributed/elastic/multiprocessing/errors/__init__.py, 1.9 to 2.9).

It names the worker that failed first, which the others' NCCL errors only follow. Under ``record`` the traceback of each
worker is in it, indented; with ``--redirects`` it is nowhere else on the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.parsers import _program

KIND = "torchrun_failure"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # other ranks go on writing while torchrun prints its summary
ANCHOR = r"Failures:\s*$|Root Cause \(first observed failure\):\s*$|\s+time\s+: \d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\s*$"
FREQUENT = {"time": "only a time follows it in this first field of a failure"}

_FIELD = lazy_regex(r"\s+(time|host|rank|exitcode|error_file|traceback)\s*: (.*)$")
_CHATTER = lazy_regex(
    r"\s*(?:Failures:|\[\d+\]:|<NO_OTHER_FAILURES>|[=-]{10,}|Root Cause \(first observed failure\):|\S+ FAILED)\s*$"
)
_RANK = lazy_regex(r"(\d{1,7}) \(local_rank: (\d{1,5})\)")
_EXIT = lazy_regex(r"(-?\d{1,5}) +\(pid: (\d{1,9})\)")
_SIGNAL = lazy_regex(r"Signal (\d{1,3}) \((\w{1,16})\) received by PID")
_SIGBUS = -7
_INDENT = "  "


def continues(lines: Sequence[str], line: str) -> bool:
    """Fields of a failure, the indented lines of its traceback, and the rules between them."""
    if _FIELD.match(line) or _CHATTER.match(line):
        return True
    last = _FIELD.match(lines[-1])
    return line.startswith(_INDENT) and lines[-1].startswith(_INDENT) and (last is None or last[1] == "traceback")


def parse(section: Section) -> Parsed:
    """One event for each failed worker, and those of tracebacks; the first observed failure has ``first`` 1."""
    found: dict[tuple[Any, Any], Observation] = {}
    raised: list[Observation] = []
    unread: list[int] = []
    body: list[int] = []
    entry: dict[str, tuple[int, str]] = {}
    first = False
    for index, line in enumerate([*section.lines, ""]):
        field = _FIELD.match(line)
        if field and not (field[1] == "time" and entry):
            entry[field[1]] = index, field[2].strip()
            continue
        if "traceback" in entry and line.startswith(_INDENT) and not field:
            body.append(index)
            continue
        if entry:
            raised += _raised(section, entry, body)
            body = []
            event = _event(section, entry, first=first)
            found[event.fields.get("rank"), event.fields.get("pid")] = event
            entry = {field[1]: (index, field[2].strip())} if field else {}
        first = first or line.startswith("Root Cause")
        if line.strip() and not field and not _CHATTER.match(line):
            unread.append(index)
    return Parsed(observations=(*found.values(), *raised), unread=tuple(unread))


def _raised(section: Section, entry: dict[str, tuple[int, str]], body: Sequence[int]) -> Sequence[Observation]:
    """What the traceback of a worker says, as a line of its rank."""
    rank = _RANK.match(entry["rank"][1]) if "rank" in entry else None
    if not body:
        return ()
    lines, numbers = tuple(section.lines[i] for i in body), tuple(section.number(i) for i in body)
    prefix = f"[rank{rank[1]}]: " if rank else section.prefix
    told = msgspec.structs.replace(
        section, lines=lines, numbers=numbers, first_line=numbers[0], prefix=prefix, heads=()
    )
    return _program.read(told).observations


def _event(section: Section, entry: dict[str, tuple[int, str]], *, first: bool) -> Observation:
    text = {name: value for name, (_, value) in entry.items()}
    rank, left = _RANK.match(text.get("rank", "")), _EXIT.match(text.get("exitcode", ""))
    signal = _SIGNAL.match(text.get("traceback", ""))
    exit_code = int(left[1]) if left else None
    fields = {
        "exit_code": exit_code, "local_rank": int(rank[2]) if rank else None, "first": int(first),
        "signal": int(signal[1]) if signal else None, "signal_name": signal[2] if signal else None,
    }  # fmt: skip
    event, kind = ("worker-bus-error", "cause") if exit_code == _SIGBUS else ("worker-failed", "symptom")
    index = entry.get("exitcode") or next(iter(entry.values()))
    host = text.get("host", "").split(".", 1)[0] or None
    return observe(
        section, index[0], "Event", host=host, event=event, origin="launcher", kind=kind,
        text=section.lines[index[0]].strip(), rank=int(rank[1]) if rank else None,
        pid=int(left[2]) if left else None, time=_time(text.get("time", "")), order=section.number(index[0]), count=1,
        fields={name: value for name, value in fields.items() if value is not None},
    )  # fmt: skip


def _time(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
