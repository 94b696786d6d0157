"""A real NCCL library under a real mpirun: what it writes where run says is read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab
JOB = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(library.ncclGetUniqueId(ctypes.create_string_buffer(128)), flush=True)
sys.exit(5)
"""


def test_each_rank_writes_a_log_of_its_own(
    ncdiag_process: Callable[..., subprocess.CompletedProcess[bytes]], nccl_library: Path, tmp_path: Path,
    need: Callable[[str, object, str], None],
) -> None:  # fmt: skip
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "NCCL_SOCKET_IFNAME": "nosuch0"}
    job = ["mpirun", "--oversubscribe", "-n", "2", sys.executable, "-c", JOB, str(nccl_library)]
    report, logs = tmp_path / "report.json", tmp_path / "logs"
    done = ncdiag_process(
        "run", "--logs", logs, "--format", "json", "-o", report, "--", *job, env={**os.environ, **root}
    )
    assert done.returncode == 5
    assert len(list(logs.iterdir())) == 2
    assert b"NCCL" not in done.stdout
    found = json.loads(report.read_text())
    sections = {section["kind"] for each in found["inputs"] for section in each["sections"]}
    assert "nccl_log" in sections
    assert any("nosuch0" in line["text"] for finding in found["findings"] for line in finding["evidence"])
