"""The title of a ticket and what is written behind a command are complaints; what programs print there is not."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.diagnose import look
from ncdiag.parsers.user_text.titles import behind, title_of

LOG = "\nn1:40:51 [0] NCCL INFO Channel 00/02 : 0 1\nn1:40:51 [0] NCCL INFO Channel 01/02 : 0 1\n"
ISSUE = LOG + "n1:40:51 [0] NCCL INFO Connected all rings\n" * 4


def complained(text: str) -> list[str]:
    return [complaint.what for complaint in look(text)[0].job.complaints]


@pytest.mark.parametrize(
    ("title", "what"),
    [
        ("nccl infiniband performance is low", "slow"),
        ("# NCCL 2.18 is much lower than 2.16 on eight A100", "slow"),
        ("[Question] Bandwidth going down to 0.3 GB/s after a day", "slow"),
        ("All reduce performance reduction on two nodes", "slow"),
        ("all_gather_test is always stuck", "hangs"),
        ("# `MyStrategy.fit` is stuck.", "hangs"),
        ("[Bug]: Training not proceeding after epoch 2", "hangs"),
        ("# Not all GPUs have NVLink, the received data is all incorrect", "wrong-results"),
        ("`nan` errors with four cards", "wrong-results"),
        ("NCCL_IB_DISABLE=1 not work", "fails"),
        ("NCCL ignores the specified interface on workers", "not-used"),
        ("**Cannot run the tests inside a container**", "fails"),
        ("The connection seems to be abnormal", "fails"),
        ("when preparing data on two nodes, raises filenotfound error", "fails"),
        ("GPUDirect only works for 3 out of 4 cards", "not-used"),
    ],
)
def test_a_title_is_a_complaint_in_any_clothes(title: str, what: str) -> None:
    assert complained(title + ISSUE)[:1] == [what]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("It hangs.", "hangs"),
        ("Training hangs", "hangs"),
        ("it\u2019s stuck again", "hangs"),
        ("everything is very slow", "slow"),
        ("Hangs :(", "hangs"),
        ("Nothing happens.", "hangs"),
        ("\u5361\u4f4f\u4e86", "hangs"),
    ],
)
@pytest.mark.parametrize("place", ["{}" + LOG, LOG + "\n{}\n"])
def test_the_fewest_words_are_a_complaint_above_and_below_a_log(words: str, what: str, place: str) -> None:
    assert complained(place.format(words)) == [what]


@pytest.mark.parametrize("words", ["stuck", "Deadlock", "slow", "no longer hangs", "hangs=0", "slow path", "stuck: 0"])
def test_a_word_alone_or_denied_is_no_complaint(words: str) -> None:
    assert complained(f"{LOG}\n{words}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 is stuck",
        "$ grep stuck /var/log/messages of the node",
        "RuntimeError: the training is stuck in a barrier",
        "[rank3]: worker hangs: no progress since 30 s",
        "trainer.py:31 the loader hangs at the end",
        "ERROR the worker was stuck and is gone",
        "NVML:links are stuck",
        "python train.py --mode stuck --slow 1",
        "Dev not found",
        "# Expected behaviour",
        "Loading the model of eight GPUs",
        "torch.distributed error",
    ],
)
def test_what_a_program_prints_first_is_no_title(line: str) -> None:
    assert complained(line + ISSUE) == []


def test_only_the_first_lines_are_a_title() -> None:
    title = "nccl infiniband performance is low"
    assert complained(title + ISSUE) == ["slow"]
    assert complained("Some job of ours" + LOG * 80 + title + ISSUE * 60) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("./build/all_reduce_perf -b 8 -e 128M -f 2 -g 4 stuck, but it's normal when g=2", ["hangs"]),
        ("mpirun -np 2 -H n1,n2 ./build/all_reduce_perf -g 1 does not work", ["fails"]),
        ("torchrun --nproc-per-node 8 train.py hangs", ["hangs"]),
        ("torchrun --nproc-per-node 8 train.py --hangs=1", []),
        ("torchrun --nproc-per-node 8 train.py hangs=1", []),
        ("torchrun --nproc-per-node 8 stuck.py", []),
    ],
)
def test_what_is_written_behind_a_command_is_a_complaint(line: str, what: list[str]) -> None:
    assert complained(line + LOG) == what


@pytest.mark.parametrize("piece", ["# ", "**a ", "[Bug]: ", "`a` ", "it is ", "AAAA=1 "])
def test_hostile_lines_take_no_longer(piece: str) -> None:
    assert_linear_time(title_of, lambda size: piece * size, 500)
    assert_linear_time(behind, lambda size: piece * size, 500)
