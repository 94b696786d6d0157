"""Derived facts of hosts and launches, from pasted text through the cutter, the parsers and the merger."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.diagnose import look
from ncdiag.engine.fields import read
from ncdiag.facts.merge import merge
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import is_gpu_pair
from ncdiag.facts.vocabulary.hosts import hca
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.knowledge.gdr.decisions import peermem_loaded
from ncdiag.parsers import discover
from ncdiag.text.sections.cut import Cutter

PROMPT = "[root@h1 ~]#"
TABLE = (
    "Module                  Size  Used by\nib_core               409600  1 mlx5_ib\nmlx5_ib               450560  0"
)


def job_of(text: str) -> Job:
    cutter = Cutter("paste", discover())
    cutter.feed(enumerate(text.split("\n"), 1))
    observations: list[Observation] = []
    for section in cutter.finish():
        parsed = discover()[section.kind].parse(section)
        observations += parsed.observations
        if parsed.complete:
            where = section.span(0)
            observations.append(
                Observation(entity="Host", host=section.host, span=where, fields={"complete": [section.kind]})
            )
    return merge(observations)


def of_host(text: str, name: str) -> Any:  # noqa: ANN401
    job = job_of(text)
    assert len(job.hosts) == 1
    return read(job.hosts[0], name, View(job))


def of_launch(text: str, name: str) -> Any:  # noqa: ANN401
    job = job_of(text)
    assert len(job.launches) == 1
    return read(job.launches[0], name, View(job))


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        (TABLE, False),
        (TABLE + "\n...", None),
        (TABLE.split("\n", 1)[1], None),
        (TABLE + "\nnvidia_peermem         16384  0", True),
        (f"{PROMPT} lsmod | grep nv_peer_mem\nnv_peer_mem            16384  0\n{PROMPT}", True),
        (f"{PROMPT} lsmod | grep nvidia_peermem\n{PROMPT} ls", None),
        (f"{PROMPT} lsmod | grep nvidia_peermem\n{PROMPT} lsmod | grep nv_peer_mem\n{PROMPT}", False),
        (f"{PROMPT} lsmod | grep nvidia_peermem\n{PROMPT} lsmod | grep nv_peer_mem", None),
        (f"{PROMPT} lsmod | grep -E 'nvidia_peermem|nv_peer_mem'\n{PROMPT}", False),
        (f"{PROMPT} lsmod | grep -i PEER\n{PROMPT}", False),
        (f"{PROMPT} lsmod | grep PEER\n{PROMPT}", None),
        (f"{PROMPT} lsmod | grep -w peer\n{PROMPT}", None),
        (f"{PROMPT} lsmod | grep mlx5_ib\nmlx5_ib               450560  0\n{PROMPT}", None),
        (f"{PROMPT} lsmod | grep 'nv.*peer'\n{PROMPT}\n{PROMPT} ulimit -l\n64\n{PROMPT}", None),
    ],
)
def test_peermem_loaded(text: str, loaded: bool | None) -> None:
    job = job_of(text)
    assert [peermem_loaded(host, View(job)) for host in job.hosts] == [loaded] * len(job.hosts)
    assert job.hosts or loaded is None


@pytest.mark.parametrize(
    ("lines", "registered"),
    [
        (["cat /sys/kernel/mm/memory_peers/nv_mem/version", "1.3"], True),
        (["cat /sys/kernel/mm/memory_peers/nv_mem/version", "cat: X/nv_mem/version: No such file or directory"], False),
        (
            [
                "cat /sys/kernel/mm/memory_peers/nv_mem/version", "cat: X/nv_mem/version: No such file or directory",
                "cat /sys/kernel/mm/memory_peers/nv_mem_nc/version", "1.3",
            ],
            True,
        ),
        (["ls /sys/kernel/mm/memory_peers"], False),
    ],
)  # fmt: skip
def test_a_missing_client_file_never_outweighs_one_that_is_there(lines: list[str], registered: bool) -> None:
    text = "\n".join(
        line.replace("X/", "/sys/kernel/mm/memory_peers/")
        if line[0].isdigit() or line.startswith("cat:")
        else f"{PROMPT} {line}"
        for line in lines
    )
    assert of_host(f"{text}\n{PROMPT}", "peermem_registered") is registered


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (f"{PROMPT} ulimit -l\n64\n{PROMPT}", "memlock_bytes", 65536),
        (f"{PROMPT} ulimit -l\n64\n{PROMPT}", "memlock_unlimited", False),
        (f"{PROMPT} ulimit -l\nunlimited\n{PROMPT}", "memlock_unlimited", True),
        (f"{PROMPT} ulimit -l\nunlimited\n{PROMPT}", "memlock_bytes", None),
        (f"{PROMPT} ulimit -n\n1024\n{PROMPT}", "nofile", 1024),
        (f"{PROMPT} ulimit -n\n1024\n{PROMPT}", "memlock_unlimited", None),
        (f"{PROMPT} ls /dev/infiniband\n{PROMPT}", "has_infiniband_devices", False),
        ("issm0  rdma_cm  umad0  uverbs0", "has_infiniband_devices", True),
    ],
)
def test_host_facts(text: str, name: str, value: object) -> None:
    assert of_host(text, name) == value


def test_the_hca_of_a_link_comes_from_the_legend() -> None:
    matrix = "\tGPU0\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tPIX\tSYS\t0-3\nNIC0\tPIX\t X \tSYS\nNIC1\tSYS\tSYS\t X \n"
    text = f"{matrix}\nNIC Legend:\n\n  NIC0: mlx5_4\n"
    job = job_of(text)
    view = View(job)
    assert {link.b: hca(link, view) for link in job.hosts[0].links} == {"NIC0": "mlx5_4", "NIC1": None}
    assert not any(is_gpu_pair(link, view) for link in job.hosts[0].links)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("mpirun -np 16 -H a:8,b:8 ./x", "slots", 16),
        ("mpirun -np 16 -H a:8,b ./x", "slots", None),
        ("mpirun -np 16 ./x", "slots", None),
        ("mpirun -np 16 -H a:8,b:8 ./x", "is_multi_host", True),
        ("mpirun -np 16 -H a:8 ./x", "is_multi_host", False),
        ("mpirun -np 16 ./x", "is_multi_host", None),
        ("torchrun --nnodes=2 x.py", "is_multi_host", True),
        ("torchrun --nnodes=1 x.py", "is_multi_host", False),
        ("torchrun --nnodes=$N x.py", "is_multi_host", None),
        ("node-a1\nnode-a2\nnode-a3", "is_multi_host", None),
        ("node-a1 slots=8\nnode-a2 slots=8", "is_multi_host", True),
        ("docker run --rm img", "container_shm_bytes", 64 << 20),
        ("docker run --shm-size 1gb img", "container_shm_bytes", 1 << 30),
        ("docker run --ipc=host img", "container_shm_bytes", None),
        ("docker run --rm img", "is_container", True),
        ("mpirun -np 2 ./x", "container_shm_bytes", None),
    ],
)
def test_launch_facts(text: str, name: str, value: object) -> None:
    assert of_launch(text, name) == value


_INIT = "n1:9:9 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x1f2e - Init START\n"  # noqa: E501
_TEST = """# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validate: 1
#
# Using devices
#  Rank  0 Group  0 Pid    101 on         n1 device  0 [0x1b] NVIDIA L4
#  Rank  1 Group  0 Pid    101 on         {} device  1 [0x1c] NVIDIA L4
"""


@pytest.mark.parametrize(
    ("text", "several"),
    [
        (_TEST.format("n1"), False),
        (_TEST.format("n2"), True),
        (_TEST.format("n1") + "Over two nodes it hangs.", None),
        (
            _TEST.format("n1") + _INIT,
            None,
        ),
    ],
)
def test_a_benchmark_tells_where_it_runs(text: str, several: object) -> None:
    view, _ = look(text)
    assert is_multi_host(view.job, view) is several


def test_variables_of_mpirun_hold_on_all_hosts_and_those_before_it_do_not() -> None:
    job = job_of("root@n1:~# NCCL_DEBUG=INFO mpirun -np 2 -H n1,n2 -x NCCL_ALGO=Ring ./x")
    assert {s.name: s.host for s in job.settings} == {"NCCL_DEBUG": "n1", "NCCL_ALGO": None}
    assert (job.launches[0].prefix_env, job.launches[0].env) == ({"NCCL_DEBUG": "INFO"}, {"NCCL_ALGO": "Ring"})
