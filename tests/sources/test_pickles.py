"""Pickled dicts: plain ones are read as JSON, all others are refused before anything of them runs."""

from __future__ import annotations

import json
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncdiag.text.sources import pickles
from ncdiag.text.sources.files import TextSource, open_sources

DUMP: dict[str, Any] = {
    "entries": [{"frames": [{"name": "step"}], "pg_id": 0, "process_group": ("0", "default_pg"), "retired": False,
                 "input_sizes": [[3, 4]], "state": "scheduled", "profiling_name": "nccl:all_reduce"}],
    "pg_status": {0: {"last_enqueued_collective": 41}}, "version": "2.4", "duration_ms": 1.5, "note": None,
}  # fmt: skip


class Touch:
    """A pickle of this makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_dump(protocol: int) -> None:
    data = pickle.dumps(DUMP, protocol)
    assert pickles.is_pickled_dict(data)
    read = json.loads(pickles.as_json(data))
    assert read.pop("pg_status") == {"0": {"last_enqueued_collective": 41}}
    entry = {**DUMP["entries"][0], "process_group": ["0", "default_pg"]}
    del entry["frames"]
    assert read == {"version": "2.4", "entries": [entry], "duration_ms": 1.5, "note": None}


def nested(depth: int) -> dict[str, Any]:
    """A dict that stands within itself twice at each step: two to the power of ``depth`` values."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value, value]
    return {"version": value}


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pickle.dumps(nested(30)), "deeply nested"),
        (pickle.dumps(circle()), "deeply nested"),
        (pickle.dumps(DUMP)[:-20], "damaged|not enough|exhausted|expected"),
        (b"\x80\x02}r\xff\xff\xff\x7f.", "invalid memo"),
        (b"\x80\x02}(cposix\nsystem\nX\x04\x00\x00\x00trueR.", "more than plain values"),
        (b"\x80\x02}" + b"(" * 1000 + b"s.", "damaged"),
    ],
)
def test_what_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        pickles.as_json(data)


def test_nothing_is_called(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with pytest.raises(ValueError, match="more than plain values"):
        pickles.as_json(pickle.dumps({"version": "2.4", "x": Touch(trap)}))
    assert not trap.exists()


def test_files_folders_and_streams(tmp_path: Path) -> None:
    file = tmp_path / "nccl_trace_rank_3"
    file.write_bytes(pickle.dumps(DUMP, 2))
    (tmp_path / "nccl_trace_rank_4").write_bytes(pickle.dumps(DUMP, 2)[:-9])
    whole, cut = open_sources([str(tmp_path)])
    assert isinstance(whole, TextSource)
    assert b"".join(whole.buffers()) == pickles.as_json(file.read_bytes())
    assert isinstance(cut, TextSource)
    assert b"".join(cut.buffers()).strip() == b""
    assert cut.notes[0].startswith("not read to the end: ")
    with file.open("rb") as stream:
        (streamed,) = open_sources(["-"], stdin=stream)
        assert isinstance(streamed, TextSource)
        assert b"".join(streamed.buffers()) == pickles.as_json(file.read_bytes())


def test_dumps_of_two_ranks_are_compared(
    ncdiag: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path
) -> None:
    for rank, last in ((0, 41), (1, 41), (2, 40)):
        status = {"0": {"last_enqueued_collective": last, "last_completed_collective": 40}}
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}}
        dump = {**DUMP, "pg_config": config, "pg_status": status}
        if last < 41:
            dump["entries"] = []
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump, 2))
    done = ncdiag("parse", tmp_path, "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["name"] == "collective-straggler-late"
    assert "rank 2 did not enter" in finding["title"]
