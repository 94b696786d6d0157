"""tools/variables.py: what it reads in a source, and what it says of a table that tells something else."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ncdiag.facts.scalars import Version
from ncdiag.nccl import book

SOURCE = """
#define STEPS 8
#define BUFFER (1 << 22) /* 4 MiB */
#if CUDA >= 9020
#define STREAM 0
#else
#define STREAM 1
#endif
// NCCL_PARAM(Gone, "GONE", 3);
NCCL_PARAM(Buffer, "BUFFSIZE", BUFFER);
  NCCL_PARAM(Chunk, "CHUNK", STEPS);  // the size of a chunk
NCCL_PARAM(Stream, "STREAM", STREAM);
NCCL_PARAM(Sized, "SIZED", -2)
NCCL_PARAM(Hex, "HEX", 0x10UL);
DEFINE_NCCL_PARAM(ncclParamDebugLevel, ncclDebugLogLevel, NCCL_DEBUG, NCCL_LOG_NONE, 0, 0, "");
const char* family = ncclGetEnv("NCCL_SOCKET_FAMILY");
NCCLCHECK(ncclGetLevel(&level, "NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"));
INFO(NCCL_ENV, "NCCL_NOT_READ set to %s // not a comment", getenv("HOME"));
"""


@pytest.fixture(scope="module")
def tool(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("variables_tool", project / "tools" / "variables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_variables_of_a_source(tool: ModuleType) -> None:
    assert tool.variables([tool.read(SOURCE)]) == {
        "NCCL_BUFFSIZE": 4194304, "NCCL_CHUNK": 8, "NCCL_STREAM": "STREAM", "NCCL_SIZED": -2, "NCCL_HEX": 16,
        "NCCL_DEBUG": None, "NCCL_SOCKET_FAMILY": None, "NCCL_P2P_DISABLE": None, "NCCL_P2P_LEVEL": None,
    }  # fmt: skip


def test_macros_that_name_each_other_end(tool: ModuleType) -> None:
    assert tool.number("A", {"A": "B", "B": "A"}) is None
    assert tool.number("A", {"A": "(B)", "B": "2 * 3 - 1"}) == 5
    assert tool.number("sizeof(int)", {}) is None


def _table(**fields: object) -> book.Table:
    known = book.Variable(name="NCCL_X", owner=book.OURS, type="int", means="x", **fields)  # type: ignore[arg-type]
    return book.Table({"NCCL_X": known}, {}, {}, {}, {})


@pytest.mark.parametrize(
    ("fields", "found", "said"),
    [
        ({"defaults": ((Version(2, 0), 3),)}, {"NCCL_X": 3}, ""),
        ({"defaults": ((Version(2, 0), 3),)}, {"NCCL_X": 4}, "default 4 in 2.18.3, 3 in the table"),
        ({"defaults": ((Version(2, 0), 3), (Version(2, 18), 4))}, {"NCCL_X": 4}, ""),
        ({}, {"NCCL_X": -2}, "default -2 in 2.18.3, None in the table"),
        ({"unset": "two"}, {"NCCL_X": -2}, ""),
        ({"since": Version(2, 19)}, {"NCCL_X": None}, "read by 2.18.3, against the table"),
        ({"until": Version(2, 19)}, {}, "not read by 2.18.3, against the table"),
        ({"until": Version(2, 18)}, {}, ""),
        ({"until": Version(2, 18)}, {"NCCL_Y": 1}, "NCCL_Y: not in the table; default 1"),
    ],
)
def test_disagreements(tool: ModuleType, fields: dict[str, object], found: dict[str, int | None], said: str) -> None:
    told = list(tool.disagreements(Version(2, 18, 3), found, _table(**fields)))
    assert len(told) == bool(said)
    assert said in "".join(told)


def test_a_clone(project: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    command = [sys.executable, str(project / "tools" / "variables.py"), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr.startswith("git: ")
    git("init", "--quiet")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "init.cc").write_text('NCCL_PARAM(New, "BRAND_NEW", 1);\n')
    git("add", ".")
    git("commit", "--quiet", "--message", "x")
    git("tag", "v2.18.3-1")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "NCCL_BRAND_NEW: not in the table; default 1" in done.stdout
    assert "NCCL_IB_TIMEOUT: not read by 2.18.3, against the table" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 releases, disagreements: ")
