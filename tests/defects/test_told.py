"""Defects that somebody reports in sentences alone, each beside a twin that lacks the release or the condition."""

from __future__ import annotations

import pytest
from defects.test_entries import led

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

REPORTS = {
    "arm-operation-pool": (
        "Every few hours our training on aarch64 nodes silently wedges, with NCCL 2.28.9.",
        "Every few hours our training on aarch64 nodes silently wedges, with NCCL 2.29.3.",
        "Every few hours our training on EPYC nodes silently wedges, with NCCL 2.28.9.",
    ),
    "uneven-nvls": (
        ("A job with 7 ranks on one node and 8 on the other deadlocks at the first all-reduce. NVLS is on. "
        "NCCL 2.31.2. It works with NCCL_NVLS_ENABLE=0."),
        "A job with 7 ranks on one node and 8 on the other deadlocks at the first all-reduce. NVLS is on. NCCL 2.32.3.",
        "A job with 8 ranks on one node and 8 on the other deadlocks at the first all-reduce. NVLS is on. NCCL 2.31.2.",
    ),
    "amd-bandwidth-table": (
        "All-reduces of 1 MB are 60 percent slower with NCCL 2.30.5 than with 2.29.7 on AMD EPYC processors.",
        "All-reduces of 1 MB are 60 percent slower with NCCL 2.29.7 than with 2.27.7 on AMD EPYC processors.",
        "All-reduces of 1 MB are 60 percent slower with NCCL 2.30.5 than with 2.29.7 on Xeon processors.",
    ),
    "many-rdma-ports": (
        "Our host has 40 RDMA ports. NCCL 2.29.2 dies with a segfault during init.",
        "Our host has 40 RDMA ports. NCCL 2.18.3 dies with a segfault during init.",
        "Our host has 8 RDMA ports. NCCL 2.29.2 dies with a segfault during init.",
    ),
    "torch-device-id": (
        "We upgraded torch to 2.7.0 and init_process_group with device_id hangs. torch 2.6 works.",
        "We upgraded torch to 2.7.1 and init_process_group with device_id hangs. torch 2.6 works.",
        "We upgraded torch to 2.7.0 and init_process_group hangs. torch 2.6 works.",
    ),
    "nvls-child-first": (
        ("With splitShare=1 the child communicator runs an NVLS all-reduce first and I get an illegal memory access. "
        "NCCL 2.29.7."),
        ("With splitShare=1 the child communicator runs an NVLS all-reduce first and I get an illegal memory access. "
        "NCCL 2.17.1."),
        "The child communicator runs an NVLS all-reduce first and I get an illegal memory access. NCCL 2.29.7.",
    ),
    "profiler-overhead": (
        "With a profiler plugin the latency of small messages went up 10 percent. NCCL 2.31.2.",
        "With a profiler plugin the latency of small messages went up 10 percent. NCCL 2.30.7.",
        "The latency of small messages went up 10 percent. NCCL 2.31.2.",
    ),
    "handle-exchange": (
        ("52 process groups are created at once and the job hangs at start, 8 GPUs per node.\n"
        "n1:10:20 [0] NCCL INFO NCCL version 2.29.7+cuda12.9\n"
        "n1:10:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
        ("52 process groups are created at once and the job hangs at start, 8 GPUs per node.\n"
        "n1:10:20 [0] NCCL INFO NCCL version 2.27.7+cuda12.9\n"
        "n1:10:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
        ("Two process groups are created at once and the job hangs at start, 8 GPUs per node.\n"
        "n1:10:20 [0] NCCL INFO NCCL version 2.29.7+cuda12.9\n"
        "n1:10:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
    ),
    "cupy-arm-ids": (
        "cupyx.distributed fails at init on our GH200 nodes, cupy 13.6.0.",
        "cupyx.distributed fails at init on our GH200 nodes, cupy 14.0.1.",
        "cupyx.distributed fails at init on our Xeon nodes, cupy 13.6.0.",
    ),
    "deepspeed-sequence-order": (
        "With Ulysses on, the results are wrong. DeepSpeed 0.14.2.",
        "With Ulysses on, the results are wrong. DeepSpeed 0.15.1.",
        "With ZeRO-2 on, the results are wrong. DeepSpeed 0.14.2.",
    ),
    "lightning-sigterm": (
        "When Slurm sends SIGTERM, the job hangs in an all-reduce. We use PyTorch Lightning 2.4.0.",
        "When Slurm sends SIGTERM, the job hangs in an all-reduce. We use PyTorch Lightning 2.5.2.",
        "At the end of an epoch the job hangs in an all-reduce. We use PyTorch Lightning 2.4.0.",
    ),
    "torch-dtensor-values": (
        "The results are wrong with DTensor and FSDP on torch 2.2.0.",
        "The results are wrong with DTensor and FSDP on torch 2.2.1.",
        "The results are wrong with FSDP on torch 2.2.0.",
    ),
    "getenv-race": (
        "A rare crash at start, gdb shows getenv () below bootstrapRoot (). NCCL 2.30.7.",
        "A rare crash at start, gdb shows getenv () below bootstrapRoot (). NCCL 2.29.7.",
        "A rare crash at start. NCCL 2.30.7.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_a_defect_leads_by_sentences_alone_and_its_twins_do_not(name: str) -> None:
    report, other_release, other_condition = REPORTS[name]
    assert name in led(report + "\n")
    assert name not in led(other_release + "\n")
    assert name not in led(other_condition + "\n")


def test_the_release_that_deepspeed_prints_counts() -> None:
    text = (
        "The results are wrong. We use sequence parallelism.\n"
        "[2026-11-20 10:00:00,120] [INFO] [logging.py:96:log_dist] [Rank 0] DeepSpeed info: version={}, "
        "git-hash=unknown, git-branch=unknown\n"
        "n1:10:20 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
    )
    assert "deepspeed-sequence-order" in led(text.format("0.14.2"))
    assert "deepspeed-sequence-order" not in led(text.format("0.14.4"))


def test_the_fix_of_a_framework_is_its_own_release() -> None:
    text = "The results are wrong. We use sequence parallelism. DeepSpeed 0.14.2.\n"
    report = diagnose([TextSource.of_bytes("report", text.encode())])
    (found,) = [one for one in report.findings if one.name == "version-known-defect"]
    assert found.fixes[0].text == "Install DeepSpeed 0.14.4 or later, the same release on all ranks."


def test_a_signature_that_is_a_failure_needs_no_other_complaint() -> None:
    text = (
        "Hosts with ARM processors and RoCE.\n"
        "n1:10:20 [0] NCCL INFO NCCL version {}+cuda13.0\n"
        "n1:10:20 [0] p2p_resiliency.cc:210 NCCL WARN NET/IB: Attempting to repost an unused request (id=17).\n"
    )
    assert "unused-request" in led(text.format("2.30.7"))
    assert "unused-request" not in led(text.format("2.27.7"))


def test_a_failure_that_names_a_variable_is_not_that_of_a_release() -> None:
    """A defect of the same phase does not explain an error that says which setting leaves no algorithm."""
    text = "We run it in a docker container. It fails during initialization with NCCL 2.26.2.\n"
    error = "Last error:\nError : no algorithm/protocol available for function Broadcast"
    assert "host-memory-in-containers" in led(text)
    assert "host-memory-in-containers" in led(f"{text}{error} with datatype ncclInt8.\n")
    assert "host-memory-in-containers" not in led(f"{text}{error} with datatype ncclInt8. NCCL_ALGO was set to Tree.\n")
