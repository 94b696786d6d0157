"""GPUs by NVML: this machine's own answer, and the real binding over a stand-in for the driver's library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ncdiag.sources import nvml
from ncdiag.sources.tree import Tree

ASK = """
import json
from pathlib import Path
from ncdiag.sources import nvml
from ncdiag.sources.tree import Tree
found, reason = nvml.gpus(Tree(Path("/nowhere"), "n1"))
print(json.dumps([[(o.entity, o.key, o.fields) for o in found], reason]))
"""


def test_this_machine_has_gpus_or_a_reason() -> None:
    found, reason = nvml.gpus(Tree(Path("/"), "here"))
    gpus = [o for o in found if o.entity == "Gpu"]
    assert bool(reason) != any(o.fields.get("complete") == ["nvml"] for o in found)
    assert all(o.fields.get("bus_id") for o in gpus)


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory, project: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in of libnvidia-ml.so.1")
    folder = tmp_path_factory.mktemp("nvml")
    source = project / "fixtures" / "nvml" / "stand_in.c"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", folder / "libnvidia-ml.so.1", source], check=True
    )
    return folder


def test_every_value_comes_through_and_a_lost_gpu_is_unknown(stand_in: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in)}
    ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    found, reason = json.loads(ran.stdout)
    assert reason is None
    assert found == [
        ["Gpu", [0], {
            "bus_id": "0000:1a:00.0", "uuid": "GPU-0a0b", "model": "NVIDIA H100 80GB HBM3", "driver": "550.54.15",
            "cuda": "12.4", "nvlinks": 17, "fabric_state": "Completed", "memory_mib": 81559, "mig": False,
            "compute_capability": "9.0", "pcie_gen": 1, "pcie_gen_max": 5, "pcie_width": 16,
        }],
        ["Gpu", [1], {"bus_id": "0000:3b:00.0", "driver": "550.54.15", "cuda": "12.4"}],
        ["Host", [], {"complete": ["nvml"], "driver": "550.54.15"}],
    ]  # fmt: skip


def test_a_broken_library_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    found, reason = json.loads(ran.stdout)
    assert (found, bool(reason)) == ([], True)
