"""What a file is for follows from its folders in the project, not from where the project is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]
SCRIPT = "#!/bin/bash\nexport NCCL_SHM_DISABLE=1\ntorchrun --nnodes 1 --nproc-per-node 8 train.py\n"


@pytest.mark.parametrize(("folder", "is_note"), [("tests/gpu", True), ("jobs/gpu", False)])
def test_switches_of_tests_are_notes(ncdiag: Run, tmp_path: Path, folder: str, is_note: bool) -> None:
    project = tmp_path / "ci" / "project"
    script = project / folder / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT)
    for path in (script, script.relative_to(project)):
        done = ncdiag("lint", path, cwd=project)
        assert b"env-shm-disable" in done.stdout
        assert (b"0 warnings" in done.stdout) is is_note
