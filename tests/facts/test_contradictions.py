"""What people say of the place against what tools printed: pairs of what contradicts and what only seems to."""

from __future__ import annotations

import functools

import pytest

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.contradictions import COMPARISONS, told_conflicts
from ncdiag.facts.vocabulary.told import told_context
from ncdiag.text.reading.job import facts_of

SMI = """
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
|   0  NVIDIA A100-SXM4-80GB          Off | 00000000:21:00.0 Off |                    0 |
| N/A   41C    P0              88W / 350W |   1512MiB / 46068MiB |      0%      Default |
|   1  NVIDIA A100-SXM4-80GB          Off | 00000000:4B:00.0 Off |                    0 |
| N/A   39C    P0              88W / 350W |   1512MiB / 46068MiB |      0%      Default |
+-----------------------------------------+----------------------+----------------------+
| Processes:                                                                            |
|  No running processes found                                                           |
+---------------------------------------------------------------------------------------+
"""
TOPO = """$ nvidia-smi topo -m
	GPU0	GPU1	CPU Affinity	NUMA Affinity
GPU0	 X 	{0}	0-15	0
GPU1	{0}	 X 	0-15	0
"""
COMM = "n1:40:51 [0] NCCL INFO comm 0x55d0c3a1 rank 0 nRanks 16 nNodes {} localRanks 8 localRank 0 MNNVL 0\n"
DMI = "$ cat /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name\nAmazon EC2\np4d.24xlarge\n"
NCCL = "NCCL error in: x.cpp:1, invalid usage, NCCL version 2.21.5\n"
COLLECT_ENV = "PyTorch version: 2.1.0+cu118\nIs debug build: False\nCUDA used to build PyTorch: 11.8\n"
PLAIN_KERNEL = "$ uname -a\nLinux n1 5.15.0-91-generic #101-Ubuntu SMP x86_64 GNU/Linux\n"
WSL_KERNEL = "$ uname -a\nLinux n1 5.15.90.1-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux\n"
NO_VM = "$ systemd-detect-virt\nnone\n"
KVM = "$ systemd-detect-virt\nkvm\n"

WRONG = [
    ("We run NCCL 2.18.3 here.", NCCL, "nccl_version", ("nccl 2.18.3", "2.21.5")),
    ("The driver is driver 470.57.", SMI, "driver", ("driver 470", "535.104.05")),
    ("We have PyTorch 2.3.1 in the image.", COLLECT_ENV, "framework", ("pytorch 2.3.1", "2.1.0")),
    ("The host has two H100.", SMI, "gpu_model", ("h100", "NVIDIA A100-SXM4-80GB")),
    ("Every host has 8x A100.", SMI, "gpus", ("8 gpus", "2 gpus")),
    ("Two nodes with 8 GPUs each.", COMM.format(4), "hosts", ("2 hosts", "4 hosts")),
    ("We run on p5.48xlarge.", DMI, "instance_type", ("p5.48xlarge", "p4d.24xlarge")),
    ("It is a job on Azure.", DMI, "cloud", ("azure", "aws")),
    ("It is a VM.", NO_VM, "machine", ("vm", "bare metal")),
    ("I am on WSL2.", PLAIN_KERNEL, "kernel", ("wsl", "another kernel")),
    ("Two 3090 with an NVLink bridge.", TOPO.format("PHB"), "nvlink", ("nvlink-bridge", "no NVLink")),
    ("The GPUs sit on an NVSwitch.", TOPO.format("NV4"), "nvlink", ("nvswitch", "no NVSwitch")),
]
RIGHT = [
    ("We run NCCL 2.21 here.", NCCL),
    ("It also hangs with NCCL 2.18.3.", NCCL),
    ("NCCL 2.18.3 on one side and NCCL 2.19.3 on the other.", NCCL),
    ("The driver is driver 535.", SMI),
    ("We upgraded from driver 470.", SMI),
    ("We have PyTorch 2.1 in the image.", COLLECT_ENV),
    ("With PyTorch 1.13 it works.", COLLECT_ENV),
    ("The host has two A100.", SMI),
    ("We also tried on 4 A100.", SMI),
    ("We also tried on 4 H100.", SMI),
    ("Another machine has two H100.", SMI),
    ("The job takes one A100.", SMI),
    ("4 nodes with 8 GPUs each.", COMM.format(4)),
    ("8 nodes with 8 GPUs each.", COMM.format(4)),
    ("It was the same on 2 nodes with 8 GPUs each.", COMM.format(4)),
    ("We run on p4d.24xlarge.", DMI),
    ("On p5.48xlarge it is fine.", DMI),
    ("It is a job on AWS.", DMI),
    ("It is a job on runpod.", DMI),
    ("Before, we were on Azure.", DMI),
    ("It is a VM.", KVM),
    ("It is a host of Proxmox.", NO_VM),
    ("I am on WSL2.", WSL_KERNEL),
    ("On WSL2 it does not work either.", PLAIN_KERNEL),
    ("Two 3090 with an NVLink bridge.", TOPO.format("NV4")),
    ("Two 3090 without an NVLink bridge.", TOPO.format("PHB")),
    ("The GPUs sit on an NVSwitch.", TOPO.format("NV18")),
]


@functools.cache
def view_of(told: str, printed: str) -> View:
    return View(facts_of({"text": [f"{told}\n{printed}"]}))


def test_a_person_who_errs_is_contradicted() -> None:
    wrong = []
    for told, printed, field, values in WRONG:
        view = view_of(told, printed)
        found = [(conflict.field, conflict.values, conflict.kept) for conflict in told_conflicts(view.job, view)]
        if found != [(field, values, values[1])] or values[0] in told_context(view.job, view):
            wrong.append((told, found))
    assert wrong == []


def test_a_person_who_is_right_or_speaks_of_another_place_is_not() -> None:
    found = [(told, told_conflicts(view.job, view)) for told, view in ((told, view_of(told, p)) for told, p in RIGHT)]
    assert [(told, conflicts) for told, conflicts in found if conflicts] == []


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda row: row.kind)
def test_each_comparison_is_tried_both_ways(comparison: object) -> None:
    kind = comparison.kind  # type: ignore[attr-defined]
    for texts in ([(told, printed) for told, printed, *_ in WRONG], RIGHT):
        views = [view_of(told, printed) for told, printed in texts]
        shown = [
            [*comparison.shown(view.job, view, context.value)]  # type: ignore[attr-defined]
            for view in views for context in view.job.contexts if context.kind == kind
        ]  # fmt: skip
        assert any(shown)


def test_a_contradiction_shows_both_lines() -> None:
    view = view_of("The host has two H100.", SMI)
    (conflict,) = told_conflicts(view.job, view)
    assert [span.text for span in conflict.spans] == ["The host has two H100.", SMI.splitlines()[4]]
