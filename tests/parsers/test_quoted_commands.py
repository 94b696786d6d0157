"""Launch lines that people quote in backticks, and hosts that a blank separates from the list of the launcher."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.facts.model import Launch


def launches(text: str) -> tuple[Launch, ...]:
    return look(f"It hangs on our two machines.\n\n{text}\n\nThe second one has the same driver.\n")[0].job.launches


@pytest.mark.parametrize(
    "line",
    [
        "`torchrun --nproc_per_node=4 train.py`",
        "I start it with `torchrun --nproc_per_node=4 train.py` on each of them.",
        "1. run `torchrun --nproc_per_node=4 train.py`",
        "I run torchrun --nproc_per_node=4 train.py on each of them.",
        "When I run the command NCCL_DEBUG=INFO torchrun --nproc_per_node=4 train.py",
        "The job is started by torchrun --nproc_per_node=4 train.py",
        "We are using torchrun --nproc_per_node=4 train.py",
    ],
)
def test_a_quoted_command_is_a_launch(line: str) -> None:
    assert [(launch.program, launch.nproc_per_node) for launch in launches(line)] == [("torchrun", 4)]


@pytest.mark.parametrize(
    "line",
    [
        "Should I use `torchrun --nproc_per_node=4 train.py`?",
        "I could start `torchrun --nproc_per_node=4 train.py` there.",
        "The option is `nproc_per_node=4`.",
        "`torchrun` is not in the path.",
        "Should I run torchrun --nproc_per_node=4 train.py?",
        "You can run torchrun --nproc_per_node=4 train.py there.",
        "I did not run torchrun --nproc_per_node=4 train.py yet.",
        "The docs say to run torchrun --nproc_per_node=4 train.py",
        "I run torchrun --nproc_per_node=4 train.py on one of them and it works.",
        "I run torchrun there.",
    ],
)
def test_a_question_or_a_word_is_no_launch(line: str) -> None:
    assert launches(line) == ()


@pytest.mark.parametrize(
    ("line", "hosts", "apart", "executable"),
    [
        ("mpirun -np 4 -H n1:2,n2:2 ./train n3:9", ["n1", "n2"], (), "./train"),
        ("mpirun -np 4 -H n1:2 n2:2 ./train", ["n1"], ("n2:2",), "./train"),
        ("mpirun -np 4 -host n1, n2 ./train", ["n1"], ("n2",), "./train"),
        ("horovodrun -np 4 -H 10.1.0.1:2 10.1.0.2:2 python t.py", ["10.1.0.1"], ("10.1.0.2:2",), "python"),
    ],
)
def test_hosts_after_a_blank_are_not_in_the_list(
    line: str, hosts: list[str], apart: tuple[str, ...], executable: str
) -> None:
    (launch,) = launches(line)
    assert ([host.name for host in launch.hosts], launch.hosts_apart, launch.executable) == (hosts, apart, executable)
