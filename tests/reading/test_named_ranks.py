"""Events of a rank whose lines do not name it: the name of its file does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncdiag.formats.ranks import rank_in

Run = Callable[..., Any]
FAILED = "terminate called\n  what():  CUDA error: an illegal memory access was encountered\n"
WAITED = (
    "[rank{n}]:[E ProcessGroupNCCL.cpp:475] [Rank {n}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=25, NumelOut=25, Timeout(ms)=600000) ran for 600410 milliseconds "
    "before timing out.\n"
)


@pytest.mark.parametrize(
    ("path", "rank"),
    [
        ("logs/rank7.log", 7), ("py-spy-rank_3", 3), ("rank-12/stdout", 12), ("out.RANK0", 0),
        ("rank3/err_rank4", None), ("franks5.log", None), ("ranks.log", None), ("rank0.of.rank0.txt", 0),
    ],
)  # fmt: skip
def test_the_rank_in_a_name(path: str, rank: int | None) -> None:
    assert rank_in(path) == rank


def ranks(ncdiag: Run, *paths: Path) -> str:
    """The ranks of the first finding."""
    found = json.loads(ncdiag("triage", "--format", "json", *paths).stdout)["findings"][0]
    assert found["name"] == "cuda-illegal-access"
    told: str = found["ranks"]
    return told


def test_files_of_ranks(ncdiag: Run, tmp_path: Path) -> None:
    texts = {"rank4.log": WAITED.format(n=4), "rank7.log": FAILED, "rank9.log": WAITED.format(n=9)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert ranks(ncdiag, *(tmp_path / name for name in texts)) == "7"
    pasted = "\n".join(f"==> {name} <==\n{text}" for name, text in texts.items())
    (tmp_path / "paste").write_text(pasted)
    assert ranks(ncdiag, tmp_path / "paste") == "7"


def test_a_file_with_lines_of_other_ranks_is_not_one_ranks(ncdiag: Run, tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_text(FAILED + WAITED.format(n=9))
    assert not ranks(ncdiag, tmp_path / "rank0.log")
