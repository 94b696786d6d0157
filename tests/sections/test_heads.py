"""What stands before each line of a block: which heads are found, and what is kept of them."""

from __future__ import annotations

import pytest
from linear import again, assert_linear_time
from tenth import tenth

from ncdiag.parsers import _context
from ncdiag.text.sections.heads import HEADS, Head
from ncdiag.text.sections.line import Line, lines_of

BY_NAME = {head.name: head for head in HEADS}
TEXTS = ("alpha beta gamma", "delta epsilon zeta", "eta theta iota", "kappa lambda mu")
SPECIMENS = {
    "syslog": "2026-03-02T04:11:09+0000 node3 python3[77]: ",
    "journal": "Mar 02 04:11:09 node3 python3[77]: ",
    "journal of a program": "Mar  2 04:11:09 node3 trainer: ",
    "syslog 5424": "<13>1 2026-03-02T04:11:09.5Z node3 trainer 77 - - ",
    "container runtime": "2026-03-02T04:11:09.123456789Z stderr F ",
    "stamp": "[2026-03-02 04:11:09,123] ",
    "stamp in words": "Mon Mar  2 04:11:09 2026 ",
    "stamp of days": "02/Mar/2026:04:11:09 +0000 ",
    "epoch": "1772424669.25 ",
    "clock": "[4:11 AM] ",
    "uptime": "[  812.123456] ",
    "glog": "I0302 04:11:09.123456    77 launch.cc:12] ",
    "level": "INFO:root:",
    "place": "[launch.py:12] ",
    "bare level": "INFO ",
    "kubectl": "[pod/trainer-0/main] ",
    "kubetail": "[trainer-0 main] ",
    "stern": "trainer-0 main ",
    "stern of all namespaces": "ml trainer-0 main ",
    "compose": "worker-1  | ",
    "mpirun": "[1,3]<stdout>:",
    "torchrun": "[trainer3|0]:",
    "Hydra": "[3] ",
    "srun": " 3: ",
    "thread": "(main thread) ",
    "pipeline": "##[error] ",
    "Ray": "(Worker pid=77, ip=10.0.0.7) ",
    "pdsh": "node3: ",
    "parallel": "node3\t",
    "fabric": "[node3] out: ",
    "name": "alpha: ",
    "stream": "stderr: ",
    "bullet": "- ",
    "comment": "# ",
    "added": "+",
    "quote": "> ",
}  # fmt: skip


def bare(head: Head, text: str) -> list[Line]:
    lines = lines_of(text)
    assert head.blocks(lines) == [(0, len(lines))]
    return head.removed(lines)


@pytest.mark.parametrize("name", SPECIMENS)
def test_each_head_comes_off_and_nothing_else(name: str) -> None:
    lines = bare(BY_NAME[name], "".join(f"{SPECIMENS[name]}{text}\n" for text in TEXTS))
    assert [line.text for line in lines] == list(TEXTS)
    assert [line.number for line in lines] == [1, 2, 3, 4]


def test_every_head_has_a_specimen() -> None:
    assert set(SPECIMENS) == set(BY_NAME) - {"host"}  # which needs lines of NCCL behind it


@pytest.mark.parametrize(
    ("name", "time"),
    [("journal", None), ("container runtime", 1772424669.123456), ("stamp", 1772424669.123), ("epoch", 1772424669.25)],
)
def test_a_time_with_its_year_is_kept(name: str, time: float | None) -> None:
    line = bare(BY_NAME[name], f"{SPECIMENS[name]}alpha\n{SPECIMENS[name]}beta\n")[0]
    assert _context.split(line.head)[0].time == time


@pytest.mark.parametrize(
    ("name", "head", "level"),
    [
        ("glog", "E0302 04:11:09.123456    77 launch.cc:12] ", "E"),
        ("level", "| ERROR    | launch:main:12 - ", "E"),
        ("level", "[CRITICAL] ", "F"),
        ("bare level", "error: ", "E"),
        ("level", "INFO:root:", None),
        ("level", "WARNING:root:", "W"),
    ],
)
def test_the_level_is_kept(name: str, head: str, level: str | None) -> None:
    assert _context.split(bare(BY_NAME[name], f"{head}alpha\n{head}beta\n")[0].head)[0].level == level


@pytest.mark.parametrize(
    ("name", "host"),
    [("journal", "node3"), ("kubectl", "trainer-0"), ("Ray", "10.0.0.7"), ("pdsh", "node3"), ("stamp", None)],
)
def test_the_host_is_kept(name: str, host: str | None) -> None:
    assert {line.host for line in bare(BY_NAME[name], f"{SPECIMENS[name]}alpha\n{SPECIMENS[name]}beta\n")} == {host}


def test_the_rank_of_a_launcher_is_kept() -> None:
    line = bare(BY_NAME["mpirun"], "[1,3]<stdout>:alpha\n[1,3]<stdout>:beta\n")[0]
    assert _context.split(line.head)[0].rank == 3


def test_lines_of_several_processes_are_put_together() -> None:
    lines = bare(BY_NAME["srun"], "0: a\n1: b\n0: c\n1: d\n")
    assert [(line.number, line.text) for line in lines] == [(1, "a"), (3, "c"), (2, "b"), (4, "d")]
    assert len({line.stream for line in lines}) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("srun", "1: lo: <LOOPBACK>\n2: eth0: <UP>\n3: eth1: <UP>\n"),  # ip addr: no number comes again
        ("comment", "# first\nNCCL_DEBUG=INFO\n# second\nNCCL_IB_HCA=mlx5\n"),
        ("comment", "text\ntext\n# export NCCL_IB_DISABLE=1\ntext\n"),
        ("host", "node1: alpha\nnode1: beta\n"),
        ("kubetail", "[trainer-0 main] a\n[trainer-1 main] b\n[trainer-2 main] c\n"),
    ],
)
def test_what_only_looks_like_a_head_is_none(name: str, text: str) -> None:
    assert BY_NAME[name].blocks(lines_of(text)) == []


@pytest.mark.parametrize(
    ("name", "label"), [("srun", "{n}: "), ("pdsh", "gpu{n}: "), ("compose", "worker-{n}  | "), ("Hydra", "[{n}] ")]
)
def test_labels_of_which_none_comes_again_are_some_before_one_message(name: str, label: str) -> None:
    failed = "".join(
        f"{label.format(n=n)}OSError: [Errno 28] No space left on device: '/data/s{n}.pt'\n" for n in range(8)
    )
    assert BY_NAME[name].blocks(lines_of(failed)) == [(0, 8)]
    values = "".join(f"{label.format(n=n)}ACTIVE\n" for n in range(8))
    assert BY_NAME[name].blocks(lines_of(values)) == []
    one_each = "".join(f"{label.format(n=n)}{word} is it that the {word} says\n" for n, word in enumerate("abcdefgh"))
    assert BY_NAME[name].blocks(lines_of(one_each)) == []


@pytest.mark.parametrize(("name", "label"), [("srun", "3: "), ("pdsh", "gpu07: "), ("compose", "worker-3  | ")])
def test_one_label_with_a_number_is_one_before_an_exception(name: str, label: str) -> None:
    for failed in ("OSError: [Errno 28] No space left on device\n", "torch.OutOfMemoryError: CUDA out of memory.\n"):
        assert BY_NAME[name].blocks(lines_of(label + failed)) == [(0, 1)]
    for text in ("No space left on device\n", "eth1: <UP>\n", "OSError\n", "Errors: 3\n"):
        assert BY_NAME[name].blocks(lines_of(label + text)) == []


def test_a_word_before_an_exception_is_no_label() -> None:
    assert all(BY_NAME[name].blocks(lines_of("problem: OSError: [Errno 28] x\n")) == [] for name in ("pdsh", "name"))


def test_a_name_before_lines_is_a_host_where_nccl_says_so() -> None:
    text = "alpha: alpha:7:7 [0] NCCL INFO Using network IB\nalpha:\nalpha: Traceback\nbeta: Last error:\nbeta: none\n"
    lines = bare(BY_NAME["host"], text)
    assert [line.host for line in lines] == ["alpha"] * 3 + ["beta"] * 2
    assert lines[1].text == ""


@pytest.mark.sweep
@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_long_lines_take_linear_time(head: Head) -> None:
    for piece in tenth((" ", "[", "1", "a.", "2026-03-02 ", "a ", "(pid=1, "), lambda piece: f"{head.name}/{piece}"):
        assert_linear_time(lambda text: head.blocks(lines_of(text)), again(piece), 4000)
