"""Each line has a kind by its form, and a name in it is not a word of it."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.diagnose import look
from ncdiag.engine.phrases import phrase
from ncdiag.formats.line_kinds import is_commented_out, kind_of, without_names

LINES = {
    "log": [
        "ib-vm-43:943354:943590 [0] NCCL INFO Bootstrap : Using eth0:10.1.0.4<0>",
        "[rank3]:[E515 18:36:47.341 ProcessGroupNCCL.cpp:632] Watchdog caught a timeout",
        "2026-08-11 09:28:11,204 INFO trainer: epoch 3",
        "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.",
        "RuntimeError: Broken pipe",
        "Abort(2139535) on node 5 (rank 5 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:",
        "MPIR_Init_thread(143)........:",
        "MPIDI_OFI_mpi_init_hook(1532): OFI endpoint open failed",
        "Traceback (most recent call last):",
    ],
    "command": [
        "root@n1:~# ibstat",
        "$ mpirun -np 2 ./build/all_reduce_perf -g 1",
        "torchrun --nproc-per-node 8 train.py",
        "#SBATCH -C pascal",
        "export NCCL_IB_DISABLE=1",
        "    -x NCCL_DEBUG=INFO \\",
    ],
    "table": [
        "| GPU | state |",
        "      134217728      33554432     float     sum      -1    27691    4.85",
        "GPU0\t X \tPHB\t0-63",
    ],
    "code": ["import torch.distributed as dist", "    dist.barrier()", "- name: worker", "replicas: 2"],
    "quoted": ["> It works for me with 2.18."],
    "prose": [
        "Our training hangs after an hour, why?",
        "* No GPU has fallen off the bus",
        "ibstat(8): is it right that it shows two ports?",
        "We use RoCE v2 on two nodes of 8 H100",
        "训练卡住了，重启容器也没用。",
    ],
}


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_a_line_has_the_kind_of_its_form(kind: str, line: str) -> None:
    assert kind_of(line) == kind


@pytest.mark.parametrize(
    ("line", "gone", "kept"),
    [
        ("ib-vm-43:94:95 [0] NCCL INFO Using network IB", "vm", "network"),
        ("see https://example.org/sharp/issues/3 for the error", "sharp", "error"),
        ("admin@ssh-gate:~$ nvidia-smi", "gate", "nvidia"),
        ("the vm of node ib-43 hangs", "example", "vm"),
    ],
)
def test_names_are_no_words_of_a_line(line: str, gone: str, kept: str) -> None:
    told = without_names(line)
    assert gone not in told
    assert kept in told


@pytest.mark.parametrize(("line", "is_found"), [("vm-7:94:95 [0] NCCL INFO Init", False), ("a vm of ours", True)])
def test_signs_do_not_find_the_name_of_a_host(line: str, is_found: bool) -> None:
    assert bool(look(line)[1].find([phrase("vm", ())])) is is_found


@pytest.mark.parametrize(
    ("line", "asks"), [("Why does my training hang", True), ("$ grep my train.log", False), ("n1 ERROR my: x", False)]
)
def test_only_a_person_asks(line: str, asks: bool) -> None:
    assert look(line)[1].asks() is asks


@pytest.mark.parametrize("piece", ["a.", "a-b@c:", "[1] ", "https://", "| ", "x = "])
def test_hostile_lines_take_no_longer(piece: str) -> None:
    assert_linear_time(without_names, lambda size: piece * size, 1000)
    assert_linear_time(lambda text: is_commented_out(f"#{text}"), lambda size: piece * size, 100)
    assert_linear_time(kind_of.__wrapped__, lambda size: piece * size, 100)


@pytest.mark.parametrize(
    "line",
    [
        "#MASTER_ADDR=localhost",
        "  #export NCCL_IB_DISABLE=1",
        '#MODEL="a b"',
        "#  --master_addr 127.0.0.1 \\",
        "#srun ./a",
    ],
)
def test_a_line_of_a_script_is_commented_out(line: str) -> None:
    assert is_commented_out(line)


@pytest.mark.parametrize(
    "line",
    [
        "# MASTER_ADDR=localhost", "#SBATCH --nodes=2", "#!/bin/bash", "#PBS -l select=2", "MASTER_ADDR=localhost #x=1",
        "#NCCL_IB_DISABLE=1 hangs as well", "#1 the job hangs", "# srun ./a", "## --ipc=host", "#define N 4",
    ],
)  # fmt: skip
def test_a_heading_a_prompt_and_a_directive_are_not(line: str) -> None:
    assert not is_commented_out(line)


@pytest.mark.parametrize(("mark", "is_found"), [("", True), ("#", False)])
def test_signs_do_not_find_what_is_commented_out(mark: str, is_found: bool) -> None:
    text = f"My job hangs.\n{mark}MASTER_ADDR=localhost\n"
    assert bool(look(text)[1].find([phrase("master_addr localhost", ())])) is is_found
