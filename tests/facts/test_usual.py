"""How the trouble shows and on what machine, as labels, from tools and from people."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.facts.vocabulary.usual import platform, symptoms


@pytest.mark.parametrize(
    ("text", "held", "lacks"),
    [
        ("My job hangs at the first step on 2 RTX A4500.", "hangs-early", "hangs:end"),
        ("My job hangs at the end of each epoch.", "hangs:epoch-end", "hangs-early"),
        ("My job hangs in the rendezvous.", "hangs:rendezvous", "hangs-early"),
        ("My training on four GPUs is slower than on one.", "slow-with-more-gpus", "hangs-early"),
        ("My loss is NaN with two GPUs, with one GPU it is right.", "wrong-with-more-gpus", "slow"),
        ("My job hangs, and the GPU utilization is idle.", "hangs-early", "slow:gpus-idle"),
        ("My job runs well.", "", "hangs-early"),
    ],
)
def test_symptoms(text: str, held: str, lacks: str) -> None:
    view = look(f"{text}\n")[0]
    found = symptoms(view.job, view)
    assert held in (*found, "")
    assert lacks not in found


TOPO = """$ nvidia-smi topo -m
        GPU0    GPU1    CPU Affinity    NUMA Affinity
GPU0     X      {level}     0-31    0
GPU1    {level}      X      0-31    0
"""


@pytest.mark.parametrize(
    ("text", "held", "lacks"),
    [
        ("I have two RTX 4090 and it hangs.", "cards", "board"),
        ("I have a workstation and it hangs.", "cards", "several-hosts"),
        ("I have two RTX 3090 with an NVLink bridge and it hangs.", "several-gpus", "cards"),
        ("I have two RTX 3090 and it hangs.\n" + TOPO.format(level="NV4"), "several-gpus", "cards"),
        ("It hangs for us.\n" + TOPO.format(level="PHB"), "cards", "board"),
        ("We have eight H100 and it hangs.", "board", "cards"),
        ("I have a Tesla T4 and it fails.", "small-bar", "several-gpus"),
        ("I have a Tesla V100 and it fails.", "", "small-bar"),
        ("I have two MI210 and it hangs.", "amd", "cards"),
        ("I have two servers and it hangs.", "several-hosts", "cards"),
        ("A 2-node run hangs.", "several-hosts", "cards"),
        ("Build 1.2-node of the image hangs.", "", "several-hosts"),
        ("I have two p4d.24xlarge instances and it hangs.", "efa", "azure-network"),
        ("I have two Standard_ND96amsr_A100_v4 machines and it hangs.", "azure-network", "efa"),
        ("We run on 2x g5.12xlarge in one subnet, and it hangs.", "several-hosts", "efa-missing"),
        ("We run on g5.12xlarge, and it hangs.", "", "several-hosts"),
        ("The GPUs are passed through to a VM, and it hangs.", "virtual", "board"),
        ("My cards are on risers and it hangs.", "riser", "narrow-slot"),
        ("It hangs, our data is on NFS.", "network-storage", "hard-disk"),
        ("It hangs, and we do not use RoCE.", "", "roce"),
    ],
)
def test_platform(text: str, held: str, lacks: str) -> None:
    view = look(f"{text}\n")[0]
    found = platform(view.job, view)
    assert held in (*found, "")
    assert lacks not in found
