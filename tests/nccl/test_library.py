from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from processes import LeapingClock, left_running

from ncdiag.nccl import library


def test_a_hang_is_ended_with_all_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, begun = f"mark-{uuid.uuid4().hex}", tmp_path / "begun"
    monkeypatch.setattr(library, "time", LeapingClock(begun))
    script = f"sh -c ': > {begun}; sleep 600; : {mark}' & wait"
    answer = library.ask("/nowhere", timeout=500, inside=("sh", "-c", script))
    assert answer.problem == "no answer within 500 seconds"
    assert left_running(mark) == []


def test_a_crash_is_named() -> None:
    answer = library.ask("/nowhere", inside=("sh", "-c", "echo before; kill -SEGV $$"))
    assert answer.problem == "the library ended the process with SIGSEGV"
    assert "before" in answer.log


def test_endless_output_is_cut() -> None:
    answer = library.ask("/nowhere", inside=("sh", "-c", "yes", "x"))
    assert answer.problem is not None
    assert len(answer.log) <= library.OUTPUT_LIMIT + 65536


def test_a_command_that_does_not_exist() -> None:
    assert "could not be started" in (library.ask("/x", inside=("/no/such/command",)).problem or "")


def test_libraries_are_found_once_each(tmp_path: Path) -> None:
    for name in ("libnccl.so.2.18.3", "libnccl-net.so", "notnccl.so"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "libnccl.so.2").symlink_to("libnccl.so.2.18.3")
    found = library.find_libraries({"LD_LIBRARY_PATH": f"/nowhere:{tmp_path}:"})
    mine = [path for path in found if path.parent == tmp_path]
    assert mine == [tmp_path / "libnccl.so.2"]
