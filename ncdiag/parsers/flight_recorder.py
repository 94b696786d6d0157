"""PyTorch's NCCL flight recorder, layout 2.x: JSON (`ncdiag.sources.pickles` makes it of its dumps), or printed dicts.

Layout: torch/csrc/distributed/c10d/FlightRecorder.hpp and tools/flight_recorder; documented in PyTorch's tutorial on
it. Printed dumps hold Python tuples and may be cut, so the text is read tolerantly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import decoded, relaxed_json
from ncdiag.spans import Section

KIND = "flight_recorder"
COMMANDS: tuple[str, ...] = ()
ANCHOR = (
    r"\s{0,8}\{?\s{0,8}[\"'](?:version[\"']\s?:\s?[\"']2\.\d{1,3}[\"']|pg_config[\"']\s?:|pg_status[\"']\s?:"
    r"|entries[\"']\s?:\s?\[(?:\s*\{\s*[\"'](?:frames|record_id|collective_seq_id|pg_id)[\"']|\s*$)"
    r"|(?:rank|host_name)[\"']\s?:[^{}\[\]]{1,120}[\"'](?:version[\"']\s?:\s?[\"']2\.\d|pg_config[\"']|pg_status[\"']))"
)

_LIKE_JSON = re.compile(r'\s|[{}\[\]()",/\']|-?\d|true|false|null|$')
_PYTHON = re.compile(r"\{\s*'")
_RANK = re.compile(r"\d{1,7}")
_FILE = re.compile(r"(?:rank|trace|dump)[^/]{0,40}?_(\d{1,7})(?:\.(?:json|txt|pickle|pkl))?$")
"""Name of a dump: TORCH_NCCL_DEBUG_INFO_TEMP_FILE (``nccl_trace_rank_``) with the number of the rank behind it."""
_OPEN = re.compile(r"[\"']state[\"']\s?:\s?[\"'](?:scheduled|started)[\"']")
"""The line of a collective that was not completed: what shows that the rank waits."""
_STATUS = {
    "last_enqueued": "last_enqueued_collective", "last_started": "last_started_collective",
    "last_completed": "last_completed_collective",
}  # fmt: skip


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines that look like JSON, to the brace in the first column."""
    return _LIKE_JSON.match(line) is not None and not decoded.closed(lines[-1], line)


def parse(section: Section) -> Parsed:
    """One FlightRecord; unread when nothing of the layout is in it."""
    if not section.lines:
        return Parsed()
    text = section.text.strip()
    text = text if text.startswith("{") else "{" + text
    read = relaxed_json.loads(decoded.from_python(text) if _PYTHON.match(text) else text)
    dump = read.value if isinstance(read.value, dict) else {}
    items = decoded.tables(dump.get("entries"))
    entries = [_entry(item) for item in items if {"collective_seq_id", "profiling_name"} & item.keys()]
    groups = _groups(decoded.table(dump.get("pg_config")), decoded.table(dump.get("pg_status")))
    if not entries and not groups:
        return Parsed(unread=tuple(range(len(section.lines))))
    version = dump.get("nccl_version")
    waiting = (number for number, line in enumerate(section.lines) if _OPEN.search(line))
    record = observe(
        section, next(waiting, 0), "FlightRecord", rank=_rank(dump, section), version=decoded.text(dump.get("version")),
        entries=entries,
        groups=groups, nccl_version=version if isinstance(version, str) else None,
    )  # fmt: skip
    return Parsed(observations=(record,))


def _rank(dump: dict[str, Any], section: Section) -> int | None:
    """Whose dump it is: a collated dump says so, else the file is named after the rank."""
    told = dump.get("rank")
    if isinstance(told, int):
        return told
    found = _FILE.search(section.source)
    return int(found[1]) if found else None


def _groups(config: dict[str, Any], status: dict[str, Any]) -> list[dict[str, Any]]:
    groups = []
    for key in dict.fromkeys([*config, *status]):
        told, state = decoded.table(config.get(key)), decoded.table(status.get(key))
        group: dict[str, Any] = {"name": decoded.text(told.get("name")) or key}
        ranks = told.get("ranks")
        if isinstance(ranks, str):  # "[0, 1]": the dump holds the printed list
            group["ranks"] = [int(number) for number in _RANK.findall(ranks)]
        elif isinstance(ranks, list):
            group["ranks"] = [rank for rank in ranks if isinstance(rank, int)]
        group |= {field: state[name] for field, name in _STATUS.items() if isinstance(state.get(name), int)}
        groups.append(group)
    return groups


def _entry(item: dict[str, Any]) -> dict[str, Any]:
    group = item.get("process_group")
    fields = {
        "group": decoded.text(group[0]) if isinstance(group, list) and group else None,
        "sequence": item.get("collective_seq_id"), "operation": decoded.text(item.get("profiling_name")),
        "state": decoded.text(item.get("state")),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if isinstance(value, str | int)}
