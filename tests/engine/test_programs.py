"""Kept programs of regular expressions are equal to what `re` compiles; a damaged file costs only time."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import ncdiag
from ncdiag.base import patterns, programs

FLAGS = (0, re.IGNORECASE, re.MULTILINE | re.DOTALL, re.VERBOSE, re.ASCII)
PATTERNS = (r"NCCL (?P<level>INFO|WARN)\b", "(?i)\u017f|k", "[\ud800-\udfff]+", "(a)(?P<b>b)?(?(b)c|d)", "")


def _lazy() -> set[tuple[str, int]]:
    for module in pkgutil.walk_packages(ncdiag.__path__, "ncdiag."):
        if not module.name.endswith(("__main__", ".probe")) and ".agent" not in module.name:
            importlib.import_module(module.name)
    lazy = [found for found in gc.get_objects() if type(found) is patterns._Lazy]
    return {(found.pattern, found._flags) for found in lazy if isinstance(found.pattern, str)}


def _filled(path: Path) -> programs.Programs:
    kept = programs.Programs(path, "stamp")
    for pattern in PATTERNS:
        for flags in FLAGS:
            kept.pattern(pattern, flags)
    return kept


def test_every_pattern_of_the_source_is_the_same_from_its_kept_program(tmp_path: Path) -> None:
    wanted = _lazy() | {(pattern, flags) for pattern in PATTERNS for flags in FLAGS}
    assert len(wanted) > 500
    first = programs.Programs(tmp_path / "programs.msgpack", "stamp")
    for pattern, flags in wanted:
        first.pattern(pattern, flags)
    first.write()
    again = programs.Programs(tmp_path / "programs.msgpack", "stamp")
    # patterns are equal if their programs and flags are
    assert all(again.pattern(pattern, flags) == re.compile(pattern, flags) for pattern, flags in wanted)
    assert not again._new
    named = again.pattern(PATTERNS[0], 0).search("NCCL WARN x")
    assert named is not None
    assert named.groupdict() == {"level": "WARN"}


def test_a_wrong_pattern_raises_as_usual(tmp_path: Path) -> None:
    with pytest.raises(re.error):
        programs.Programs(tmp_path / "programs.msgpack", "stamp").pattern("(", 0)


def test_a_file_of_another_python_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "programs.msgpack"
    _filled(path).write()
    other = programs.Programs(path, "another stamp")
    assert other._known == {}


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, b"\x93"], ids=["empty", "words", "short"])
def test_a_damaged_program_is_compiled_again(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "programs.msgpack"
    kept = _filled(path)
    kept._known = {
        key: msgspec.Raw(
            msgspec.msgpack.encode(msgspec.msgpack.decode(each, type=programs.Program)._replace(code=damage))
        )
        for key, each in kept._known.items()
    }
    kept.write()
    again = programs.Programs(path, "stamp")
    assert again._known
    assert all(again.pattern(pattern, flags) == re.compile(pattern, flags) for pattern in PATTERNS for flags in FLAGS)


def test_few_new_programs_do_not_write_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "programs.msgpack"
    few = programs.Programs(path, "stamp")
    few.pattern("a", 0)
    few.write()
    assert not path.exists()


def test_a_file_that_grows_too_large_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "programs.msgpack"
    _filled(path).write()
    monkeypatch.setattr(programs, "_MOST", 100)
    kept = programs.Programs(path, "stamp")
    for number in range(programs._ENOUGH):
        kept.pattern(f"new{number}", 0)
    kept.write()
    assert {key.decode() for key in programs.Programs(path, "stamp")._known} == {
        f"0 new{n}" for n in range(programs._ENOUGH)
    }


def test_without_a_folder_for_the_cache_patterns_are_compiled() -> None:
    kept = programs.Programs(None, "stamp")
    assert kept.pattern("a+", 0) == re.compile("a+")
    kept._new = {b"%d" % number: msgspec.Raw(b"") for number in range(programs._ENOUGH)}
    kept.write()


def test_the_cache_has_no_text_of_the_input(tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text("job of secretname hangs at init on host secretname.example\nNCCL_IB_HCA=mlx5_secretname\n")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "ncdiag", "triage", str(paste)]
    subprocess.run(words, env=environment, check=False, capture_output=True, timeout=120)
    held = [*(tmp_path / "cache" / "ncdiag").glob("programs-*"), *(tmp_path / "cache" / "ncdiag").glob("guards-*")]
    assert len(held) == 2
    assert all(b"NCCL" in kept.read_bytes() for kept in held)
    assert not any(b"secretname" in kept.read_bytes() for kept in held)
