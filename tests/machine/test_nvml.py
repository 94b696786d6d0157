"""GPUs by NVML: this machine's own answer, and the real binding over a stand-in for the driver's library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nvml_library import built

from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Observation
from ncdiag.machine import nvml
from ncdiag.machine.nvml_use import SAMPLES, use
from ncdiag.machine.tree import Tree

ASK = """
import json
from pathlib import Path
from ncdiag.machine import nvml
from ncdiag.machine.tree import Tree
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
    return built(project / "fixtures" / "nvml" / "stand_in.c", tmp_path_factory.mktemp("nvml"))


def test_every_value_comes_through_and_a_lost_gpu_is_unknown(stand_in: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in)}
    ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    found, reason = json.loads(ran.stdout)
    assert reason is None
    system = {"driver": "550.54.15", "cuda": "12.4"}
    same = {
        "uuid": "GPU-0a0b", "model": "NVIDIA H100 80GB HBM3", "memory_mib": 81559, "mig": False,
        "compute_capability": "9.0", "pcie_gen": 1, "pcie_gen_max": 5, "pcie_width": 16, "persistence_mode": True,
        "compute_mode": "Exclusive_Process", "slowdowns": ["HW Thermal Slowdown", "HW Power Brake Slowdown"],
        "sm_clock_mhz": 345, "sm_clock_max_mhz": 1980, "ecc_enabled": True, "ecc_uncorrected": 2,
        "ecc_uncorrected_ever": 7, **system,
    }  # fmt: skip
    new = {
        "nvlinks": 17, "nvlinks_inactive": 1, "nvlink_rates": [26.562],
        "nvlink_errors": {"replay": 0, "recovery": 1, "crc_flit": 2, "crc_data": 3}, "fabric_state": "Completed",
        "fabric_status": "GPU is lost", "remapped_correctable": 3, "remapped_uncorrectable": 1,
        "remapping_pending": True, "remapping_failed": False,
    }  # fmt: skip
    old = {
        "nvlinks": 0, "nvlinks_inactive": 0, "retired_single_bit": 1, "retired_double_bit": 2,
        "retirement_pending": True,
    }  # fmt: skip
    told = {"p2p_read": "OK", "p2p_write": "OK", "p2p_nvlink": "NS", "p2p_atomics": "CNS", "p2p_proprietary": "OK"}
    assert found == [
        ["Gpu", [0], {**same, **new, "bus_id": "0000:1a:00.0"}],
        ["Gpu", [1], {**system, "bus_id": "0000:3b:00.0"}],
        ["Gpu", [2], {**same, **old, "bus_id": "0000:5c:00.0"}],
        ["TopoLink", ["GPU0", "GPU2"], told],
        ["Host", [], {"complete": ["nvml"], "driver": "550.54.15"}],
    ]
    job = merge(msgspec.convert(observation, Observation) for observation in as_observed(found))
    [host] = job.hosts
    assert [gpu.ecc_uncorrected_ever for gpu in host.gpus] == [7, None, 7], "the fields are those of a Gpu"
    assert host.links[0].p2p_atomics == "CNS"


def as_observed(found: list[list[Any]]) -> Iterator[dict[str, Any]]:
    for entity, key, fields in found:
        where = {"source": "NVML", "line": 0, "text": ""}
        yield {"entity": entity, "key": key, "fields": fields, "host": "n1", "span": where}


def test_a_broken_library_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    found, reason = json.loads(ran.stdout)
    assert (found, bool(reason)) == ([], True)


def test_the_use_of_the_gpus_is_the_largest_of_several_samples(stand_in: Path) -> None:
    ask = "from ncdiag.machine.nvml_use import use; waits = []; print(use(waits.append), len(waits))"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in)}
    ran = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "index, utilization.gpu [%], utilization.memory [%], power.draw [W], power.limit [W], memory.used [MiB]",
        "0, 100 %, 1 %, 221.30 W, 700.00 W, 0 MiB",
        "2, [N/A], [N/A], 41.00 W, [N/A], 0 MiB",
        f" {SAMPLES - 1}",
    ]


def test_nvml_that_does_not_answer_is_not_waited_for(stand_in: Path) -> None:
    ask = (
        "import time; from ncdiag.machine import nvml_use as n; n._LIMIT = 1.0\n"
        "print([n.use(lambda _: (print('asked'), time.sleep(9)))])"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in)}
    ran = subprocess.run(
        [sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=8, check=True
    )
    assert ran.stdout == "asked\n['']\n"


def test_no_nvml_no_use() -> None:
    assert bool(use(lambda _: None)) == bool(nvml.gpus(Tree(Path("/"), "here"))[0])


def test_a_running_job_is_examined_with_the_use_of_the_gpus(stand_in: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in)}
    check = ["check", "--no-nccl", "--stacks", "never", "--format", "json", "--pid", str(os.getpid())]
    ran = subprocess.run(
        [sys.executable, "-m", "ncdiag", *check], env=environment, capture_output=True, text=True, check=False
    )
    assert "NVML" in {each["source"] for each in json.loads(ran.stdout)["inputs"]}
