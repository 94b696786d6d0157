"""PyTorch's NCCL flight recorder, layout 2.x: JSON, or printed dicts.

`ncdiag.text.sources.pickles` makes the JSON from the recorder's dumps, `ncdiag.text.sources.traces` from logs of calls.

Layout: torch/csrc/distributed/c10d/FlightRecorder.hpp and tools/flight_recorder; documented in PyTorch's tutorial on
it. Printed dumps hold Python tuples and may be cut, so the text is read tolerantly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import decoded, relaxed_json

KIND = "flight_recorder"
COMMANDS: tuple[str, ...] = ()
ANCHOR = (
    r"\s{0,8}\{?\s{0,8}[\"'](?:comm_lib_version[\"']\s?:|version[\"']\s?:\s?[\"']2\.\d{1,3}[\"']|pg_config[\"']\s?:|pg_status[\"']\s?:"
    r"|entries[\"']\s?:\s?\[(?:\s*\{\s*[\"'](?:frames|record_id|collective_seq_id|pg_id)[\"']|\s*$)"
    r"|(?:rank|host_name)[\"']\s?:[^{}\[\]]{1,120}[\"'](?:version[\"']\s?:\s?[\"']2\.\d|pg_config[\"']|pg_status[\"']))"
)
SIGNS = ('version"', "version'")

_LIKE_JSON = lazy_regex(r'\s|[{}\[\]()",/\']|-?\d|true|false|null|$')
_PYTHON = lazy_regex(r"\{\s*'")
_RANK = lazy_regex(r"\d{1,7}")
_FILE = lazy_regex(r"(?:rank|trace|dump)[^/]{0,40}?_(\d{1,7})(?:\.(?:json|txt|pickle|pkl))?$")
"""Name of a dump: TORCH_NCCL_DEBUG_INFO_TEMP_FILE (``nccl_trace_rank_``) with the number of the rank behind it."""
_FIRST = "0"
"""Name and number of the group of all ranks."""
_PAIR = lazy_regex(r"(?P<way>send|recv) \d{1,7}\s?(?:->|<-)\s?(?P<peer>\d{1,7})")
"""Name of a send or a receive (ProcessGroupNCCL.cpp, pointToPoint), its ranks counted within the group."""
_OPEN = lazy_regex(r"[\"']state[\"']\s?:\s?[\"'](?:scheduled|started)[\"']")
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
    waiting = (number for number, line in enumerate(section.lines) if _OPEN.search(line))
    record = recorded(section, dump, next(waiting, 0))
    return Parsed(observations=(record,)) if record is not None else Parsed(unread=tuple(range(len(section.lines))))


def recorded(section: Section, dump: dict[str, Any], index: int) -> Observation | None:
    """The FlightRecord of a dump, in the place of this line; None where nothing of the layout is in it."""
    items = decoded.tables(dump.get("entries"))
    calls = [item for item in items if {"collective_seq_id", "profiling_name"} & item.keys()]
    groups = _groups(decoded.table(dump.get("pg_config")), decoded.table(dump.get("pg_status")), _names(calls))
    members = {group["name"]: group.get("ranks", ()) for group in groups}
    entries = [_entry(item, members) for item in calls]
    if not entries and not groups:
        return None
    version = dump.get("nccl_version")
    return observe(
        section, index, "FlightRecord", rank=_rank(dump, section), version=decoded.text(dump.get("version")),
        entries=entries, groups=groups, nccl_version=version if isinstance(version, str) else None,
        live=True if dump.get("live") is True else None,
    )  # fmt: skip


def _rank(dump: dict[str, Any], section: Section) -> int | None:
    """Whose dump it is: a collated dump says so, else the file is named after the rank."""
    told = dump.get("rank")
    if isinstance(told, int):
        return told
    found = _FILE.search(section.source)
    return int(found[1]) if found else None


def _names(calls: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The names of process groups by the number that this rank gives them: ``pg_status`` has only the numbers."""
    return {str(call["pg_id"]): name for call in calls if "pg_id" in call and (name := _group(call)) is not None}


def _groups(config: dict[str, Any], status: dict[str, Any], names: dict[str, str]) -> list[dict[str, Any]]:
    """The groups of ``pg_config``, by name, with what ``pg_status`` says of those whose number is known.

    The first group of a rank, 0, has that name as well; where no call tells a number, numbers are taken for names.
    """
    named = {names.get(key, key if key == _FIRST or not names else ""): state for key, state in status.items()}
    groups = []
    for key in dict.fromkeys([*config, *(name for name in named if name)]):
        told, state = decoded.table(config.get(key)), decoded.table(named.get(key))
        group: dict[str, Any] = {"name": decoded.text(told.get("name")) or key}
        ranks = told.get("ranks")
        if isinstance(ranks, str):  # "[0, 1]": the dump holds the printed list
            group["ranks"] = [int(number) for number in _RANK.findall(ranks)]
        elif isinstance(ranks, list):
            group["ranks"] = [rank for rank in ranks if isinstance(rank, int)]
        if isinstance(told.get("desc"), str):
            group["purpose"] = told["desc"]
        group |= {field: state[name] for field, name in _STATUS.items() if isinstance(state.get(name), int)}
        groups.append(group)
    return groups


def _group(item: dict[str, Any]) -> str | None:
    group = item.get("process_group")
    return decoded.text(group[0]) if isinstance(group, list) and group else None


def _entry(item: dict[str, Any], members: dict[str, Sequence[int]]) -> dict[str, Any]:
    group, operation = _group(item), decoded.text(item.get("profiling_name"))
    pair = _PAIR.search(operation or "")
    is_p2p = item.get("is_p2p") is True or pair is not None
    fields = {
        "group": group, "sequence": item.get("p2p_seq_id" if is_p2p and "p2p_seq_id" in item else "collective_seq_id"),
        "operation": operation, "state": decoded.text(item.get("state")), "shape": _shape(item),
    }  # fmt: skip
    if is_p2p:
        fields["is_p2p"] = True
    elif isinstance(before := item.get("p2p_seq_id"), int) and before > 0:  # every entry has both counts of its group
        fields["after_p2p"] = True
    if pair:
        ranks, place = members.get(group or "", ()), int(pair["peer"])
        peer = ranks[place] if place < len(ranks) else place  # numbered within the group
        fields["to_rank" if pair["way"] == "send" else "from_rank"] = peer
    return {name: value for name, value in fields.items() if isinstance(value, str | int)}


def _shape(item: dict[str, Any]) -> str | None:
    """``[[1024]] Float``: sizes and types of the input."""
    sizes, types = item.get("input_sizes"), item.get("input_dtypes")
    if not isinstance(sizes, list):
        return None
    kinds = " ".join(kind for kind in types if isinstance(kind, str)) if isinstance(types, list) else ""
    return f"{sizes} {kinds}".strip()
