"""``ncdiag run`` on a silent job, with the use of its GPUs by NVML: who waits, who computes, and who did not enter.

The binding and its calls are real; the driver's library is a stand-in.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nvml_library import built
from watching.test_hangs import COMPLETE, RANK, STARTS, report_of

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

SPINS, COMPUTES, RESTS, UNUSED = "100,1,220,61000", "99,62,655,61000", "0,0,92,61000", "0,0,71,4"
HANGS = "ncdiag run: the job has printed nothing for 600 s, since 2026-05-03T03:10:00Z\n"
WAITING, NOT_ENTERED = "collective-gpus-wait", "collective-gpu-not-entered"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, project: Path) -> Path:
    return built(project / "fixtures" / "nvml" / "in_use.c", tmp_path_factory.mktemp("nvml"))


def used(library: Path, *gpus: str) -> str:
    """What NVML says of these GPUs, in nvidia-smi's words."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "NVML_STAND_IN": ";".join(gpus)}
    ask = "from ncdiag.machine.nvml_use import use; print(use(lambda _: None))"
    return subprocess.run(
        [sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("gpus", "found"),
    [
        ([SPINS] * 4, {WAITING: "All 4 GPUs"}),
        ([SPINS, SPINS, RESTS, SPINS], {NOT_ENTERED: "GPU 2"}),
        ([COMPUTES] * 4, {}),
        ([SPINS, SPINS, COMPUTES, SPINS], {}),
        ([RESTS] * 4, {}),
        ([SPINS, SPINS, UNUSED, UNUSED], {}),
        ([SPINS], {}),
    ],
    ids=["all wait", "one rests", "all compute", "one computes", "all rest", "half unused", "one GPU"],
)
def test_who_waits_and_who_did_not_enter(library: Path, gpus: list[str], found: dict[str, str]) -> None:
    texts = {"ncdiag run": HANGS, "NVML": used(library, *gpus)}
    report = diagnose([TextSource.of_bytes(name, text.encode()) for name, text in texts.items()])
    named = {one.name: one.title for one in report.findings if one.name in {WAITING, NOT_ENTERED}}
    assert set(named) == set(found)
    assert all(words in named[name] for name, words in found.items())


def test_a_running_job_that_hangs_is_asked(
    program: list[str], library: Path, tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.setenv("NVML_STAND_IN", f"{SPINS};{SPINS};{SPINS};{RESTS}")
    job = RANK.format(line=f"{STARTS}\n{COMPLETE}", then="time.sleep(600)")
    report = report_of(program, tmp_path / "report.json", mark, sys.executable, "-c", job)
    assert "NVML" in {each["source"] for each in report["inputs"]}
    (found,) = [each for each in report["findings"] if each["name"] == NOT_ENTERED]
    assert "GPU 3" in found["title"]
