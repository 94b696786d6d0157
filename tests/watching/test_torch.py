"""``ncdiag run`` on real jobs of PyTorch on CPUs (gloo) that hang.

``NCDIAG_TORCH`` names a Python that has PyTorch, which this project does not install (``make lab`` does).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hanging import Hung, needs_py_spy

PYTHON = os.environ.get("NCDIAG_TORCH") or (sys.executable if importlib.util.find_spec("torch") else None)
pytestmark = [
    pytest.mark.skipif(PYTHON is None, reason="no PyTorch: NCDIAG_TORCH=PYTHON names one (make lab)"), needs_py_spy,
]  # fmt: skip

JOB = """
import time, torch
import torch.distributed as dist
dist.init_process_group("gloo")
class Shards(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        if index == 2 and dist.is_initialized() and dist.get_rank() == 1:
            time.sleep(1000)
        return torch.ones(4)
def prepare():
    time.sleep(1000)
def train():
    dist.all_reduce(torch.ones(4))
    print("step 1", flush=True)
    {then}
    dist.all_reduce(torch.ones(4))
if __name__ == "__main__":
    train()
"""
LATE = "if dist.get_rank() == 1: prepare()"
LOADS = "list(torch.utils.data.DataLoader(Shards(), num_workers=1, multiprocessing_context='fork'))"


@pytest.mark.parametrize("mode", ["auto", "faulthandler"])
@pytest.mark.parametrize(("then", "words"), [(LATE, "is in prepare ("), (LOADS, "is loading data (")])
def test_the_rank_that_does_not_enter_is_named(
    program: list[str], tmp_path: Path, mark: str, then: str, words: str, mode: str
) -> None:
    (tmp_path / "job.py").write_text(JOB.format(then=then))
    launcher = [str(PYTHON), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    job = [*launcher, str(tmp_path / "job.py")]
    hung = Hung(program, tmp_path / "report.json", mark, "--hang-after", "12", "--stacks", mode, job=job)
    hung.end()
    assert hung.report["summary"]["root_cause"] == "process-elsewhere"
    assert f"rank 1 {words}" in hung.title("process-elsewhere")
    assert "ranks 0,2 wait in a collective (all_reduce, from " in hung.title("process-elsewhere")
