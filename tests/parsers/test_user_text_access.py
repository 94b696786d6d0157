"""What reaches the GPUs and RDMA devices, and from where: in people's words, and as pasted commands show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag import knowledge
from ncdiag.facts.view import View
from ncdiag.knowledge.launcher.slurm import slurm_without_gpus
from ncdiag.text.reading.job import facts_of

LINES = (Path(__file__).parent / "user_text" / "access.txt").read_text(encoding="utf-8").splitlines()


def told_by(text: str) -> list[str]:
    return [f"{a.tool}@{a.place}{'+' if a.works else '-'}" for a in facts_of({"text": [f"{text}\n"]}).accesses]


def test_each_line_tells_what_is_reached() -> None:
    wrong = []
    for line in LINES:
        if "=>" in line and not line.startswith("#"):
            text, _, expected = line.rpartition("=>")
            found = list(dict.fromkeys(told_by(text.strip().replace("|", "\n"))))
            if found != expected.split():
                wrong.append((text.strip(), found, expected.split()))
    assert not wrong


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("nvidia_closed_to", "nvidia-smi works on the host but not in the container", ("container",)),
        ("nvidia_closed_to", "In the pod nvidia-smi works.\nBut deviceQuery fails.", ("programs",)),
        ("nvidia_closed_to", "nvidia-smi works as root, but as a normal user nvidia-smi fails", ("user",)),
        ("nvidia_closed_to", "nvidia-smi fails inside the slurm job, while via ssh nvidia-smi works", ("job",)),
        ("nvidia_closed_to", "on the host nvidia-smi fails", ("host",)),
        ("nvidia_closed_to", "nvidia-smi works on the host and in the container nvidia-smi works as well", ()),
        ("nvidia_closed_to", "in the container nvidia-smi fails", ()),
        ("nvidia_open_to", "nvidia-smi works on the host but not in the container", ("host",)),
        ("amd_closed_to", "rocm-smi works fine in the container. But hip programs fail there.", ("programs",)),
        ("npu_closed_to", "npu-smi works on the host, but in the container npu-smi fails", ("container",)),
        ("rdma_closed_to", "ibstat shows the card on the host. In the pod ibstat is empty.", ("container",)),
        ("gpus_not_reached", "in the container nvidia-smi fails", True),
        ("gpus_not_reached", "in the container nvidia-smi fails and ibstat is empty", False),
    ],
)
def test_what_works_beside_what_fails_names_the_layer(name: str, text: str, expected: object) -> None:
    job = facts_of({"text": [f"{text}\n"]})
    assert knowledge.registry()["Job", name].function(job, View(job)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [("--nodes=1 --partition=long", True), ("--gres=gpu:4", False), ("-G 4", False), ("--exclusive", False)],
)
def test_a_slurm_job_that_asks_for_no_gpu(*, options: str, expected: bool) -> None:
    job = facts_of({"slurm_script": [f"#SBATCH {options}\n"]})
    assert bool(slurm_without_gpus(job, View(job))) is expected


def test_an_opened_device_is_not_a_missing_one() -> None:
    lines = "W0411 08:00:02.100200 41 rdma_context.cpp:581] No suitable GID found on {}/\n"
    failed = "E0411 08:00:02.100310 41 rdma_context.cpp:81] Failed to open device mlx5_4 on port  with GID -1\n"
    same = facts_of({"text": [lines.format("mlx5_4"), failed]})
    other = facts_of({"text": [lines.format("mlx5_9"), failed]})
    assert View(same).job.hosts[0].name == View(other).job.hosts[0].name
    from ncdiag.knowledge.container.access import verbs_failure

    assert verbs_failure(same.hosts[0], View(same)) == ""
    assert "mlx5_4" in verbs_failure(other.hosts[0], View(other))
