"""Which blocks of a text only mention what they name, which are the log of a run, and who reports a trouble."""

from __future__ import annotations

import pathlib

import pytest
from linear import assert_linear_time

from ncdiag.formats.blocks.assorted import Failure
from ncdiag.formats.blocks.host_logs import other_systems
from ncdiag.formats.blocks.kinds import mentioned
from ncdiag.formats.blocks.own_trouble import is_reported
from ncdiag.formats.blocks.runs import of_run
from ncdiag.formats.blocks.tracebacks import at_an_edge

RUN = [f"n1:100:{tid} [0] NCCL INFO line {tid}" for tid in (101, 102, 103)]
RULE = "-" * 74
SLURM = [
    "slurmstepd: error: Detected 1 oom_kill event in StepId=9120.0. Some of the step tasks have been OOM Killed.",
    "srun: error: node7: task 11: Out Of Memory",
    "srun: Terminating StepId=9120.0",
]
STEPS = ["epoch 1 step 40 loss 2.91", "epoch 1 step 50 loss 2.88"]
HELP = [RULE, "ORTE was unable to reliably start one or more daemons.", "* not finding the required libraries.", RULE]


@pytest.mark.parametrize(
    ("lines", "of_a_run"),
    [
        (RUN, 3),
        (["Set it:", "", "```", *RUN, "```"], 4),
        (["Set it:", "", "```", *RUN[:2], "```"], 0),
        (["Set it:", "", *(f"    {line}" for line in RUN[:2])], 0),
        (RUN[:2], 2),
        (["n1:100:101 [0] NCCL INFO a", "n2:200:201 [0] NCCL INFO b"], 0),
        (RUN[:1], 0),
        ([f"+{line}" for line in RUN], 3),
        (HELP, 4),
        (HELP[:-1], 3),
        (["[rank0]: it failed", "[rank0]: and ended"], 2),
        (["[rank 0] it failed", "[rank 1] it failed"], 2),
        (SLURM, 3),
        (SLURM[:2], 0),
        (["```", *SLURM, "```"], 0),
        (["```", "srun -n 8 ./train", *SLURM, "```"], 0),
        (["```", *STEPS, *SLURM, "```"], 6),
        ([f"    {line}" for line in SLURM], 0),
        (["2026-03-02 10:41:07 loading", "2026-03-02 10:49:09 stopped"], 2),
        (["[2026-03-02 10:41:07,310] run: x", "[W302 10:41:07.402 socket.cpp:697] [c10d] y"], 2),
        (["[2026-03-02 10:41:07,310] run: x", "[W1202 11:41:07.402 socket.cpp:697] [c10d] y"], 0),
    ],
)
def test_the_log_of_a_run_is_several_lines_that_agree(lines: list[str], of_a_run: int) -> None:
    assert sum(of_run(lines)) == of_a_run


@pytest.mark.parametrize(
    "line",
    [
        "My job hangs after an hour.",
        "We are seeing NCCL WARN Call to ibv_reg_mr failed on two hosts",
        "Why does it stop there?",
        "Any idea what this is?",
        "Training on our cluster ends with an error",
        "### Steps to reproduce",
        "[Bug] all_reduce never returns",
        "It runs fine on one node, but on two nodes my job hangs",
        "Since yesterday my job dies",
        "训练报错",
        "单机正常，但使用多机多卡训练会报错，报错信息如下：",
        "报错日志如下",
        "多卡运行时出现了如下错误",
        "首先这个报错如何解决",
        "有几个疑问：",
        "Train on 16 nodes, following errors raised:",
        "All ranks stop with the following NCCL error",
        "请问这是什么问题",
    ],
)
def test_a_trouble_of_the_writer_is_a_report(line: str) -> None:
    assert is_reported([line])


@pytest.mark.parametrize(
    "line",
    [
        "From 7c1fd20b98ae Mon Sep 17 00:00:00 2001",
        "It was the cable, and we have not seen it again since.",
        "If the job hangs, look at the other ranks.",
        "## Why does my job hang?",
        "In this tutorial we use two nodes.",
        "Last month our node 3 lost a GPU, it was replaced and all is fine",
        "ncdiag my.log",
        '"Why does my job hang?" is asked every day.',
        "n1:1:2 [0] NCCL WARN my job failed",
        "通常，运行时会各种报错，原因很简单。",
        "如何解决报错：检查网卡",
        "不设置该变量时程序会出现错误，日志如下：",
        "If the port is closed, the launcher prints the following error:",
        "You may see the following errors at the end.",
    ],
)
def test_others_are_none(line: str) -> None:
    assert not is_reported([line])


@pytest.mark.parametrize(
    "lines",
    [
        ["It was fixed by opening the ports."],
        [
            "RuntimeError: NCCL error: unhandled system error",
            "Please try one of these:",
            "1. export A=1",
            "2. raise it",
        ],
        HELP,
        ["collected 2 items", *RUN, "========= 1 failed, 1 passed in 1.0s ========="],
        ["Connection closed by remote host"],
        [
            "The launcher exits",
            "",
            *(f"ssh: Could not resolve hostname n{n}: Name or service not known" for n in (2, 3)),
        ],
        ["src/net/ib.cc:142", "CUDA error: out of memory", "src/net/ib.cc:150"],
        ["<dl>", "<dt>Host</dt><dd>gpu7</dd>", "<dt>Error</dt><dd>CUDA error: out of memory</dd>", "</dl>"],
        ["dana 9:12", "it was fixed last week", "eli 9:13", "great", "dana 9:14", "now it hangs again"],
    ],
)
def test_what_failed_is_not_only_mentioned(lines: list[str]) -> None:
    assert not mentioned(lines)


def test_a_host_of_the_job_is_not_another_system() -> None:
    log = [f"Mar  3 04:0{n}:00 web2 sshd[{n}]: error: Bind to port 22 failed" for n in range(6)]
    assert mentioned(log)
    assert mentioned([*RUN, *log])
    assert not mentioned([*RUN, "the launcher started a rank on web2", *log])
    assert not mentioned([*log, "Mar  3 04:07:00 web2 kernel: nvidia: loading"])


UNSCHEDULED = "(autoscaler +5m2s) Error: No available node types can fulfill resource request {'GPU': 1.0}. Add \
suitable node types to this cluster to resolve this issue."
SUGGESTS = ["Set A.", "", "- If you see it, set B to 1.", "- If you do not, use C and check D.", ""]
TRACEBACK = [
    "Traceback (most recent call last):", '  File "/w/train.py", line 40, in main', "    loss = step(batch)",
    "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
]  # fmt: skip


@pytest.mark.parametrize("times", [1, 2, 3, 4, 8, 64])
def test_what_each_rank_prints_is_no_document(times: int) -> None:
    assert not mentioned([UNSCHEDULED] * times)


@pytest.mark.parametrize("times", [1, 4, 8, 64])
def test_what_each_rank_prints_is_no_collection(times: int) -> None:
    lines = [f"worker-{rank}  | {line}" for line in TRACEBACK for rank in range(times)]
    failures = {at: Failure("program", True, True) for at, line in enumerate(lines) if "Error" in line}
    assert not mentioned(lines, (), failures, bare=[line.partition("| ")[2] for line in lines])


VERSIONS = [
    "Traceback (most recent call last):", '  File "/opt/bin/ray", line 8, in <module>', "    sys.exit(main())",
    "RuntimeError: Version mismatch: The cluster was started with:", "    Ray: 2.9.0", "    Python: 3.10.12",
    "This process on node 10.0.3.8 was started with:", "    Ray: 2.9.0", "    Python: 3.11.9",
]  # fmt: skip


@pytest.mark.parametrize("times", [1, 4, 8, 64])
@pytest.mark.parametrize("interleaved", [False, True])
def test_lines_of_few_words_come_again_with_those_around_them(times: int, interleaved: bool) -> None:
    lines = [line for line in VERSIONS for _ in range(times)] if interleaved else VERSIONS * times
    failures = {at: Failure("program", True, True) for at, line in enumerate(lines) if "Error" in line}
    assert not mentioned(lines, (), failures)


CUT = [
    '  File "/opt/env/lib/python3.11/site-packages/torch/cuda/__init__.py", line 319, in _lazy_init',
    "    torch._C._cuda_init()",
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["Exit status 4.", "", *CUT], [(2, 4)]),
        ([*CUT, "", "- item"], [(0, 2)]),
        (["    for name in names:", "", *CUT], [(2, 4)]),
        (["An example of this message:", "", *CUT], []),
        (["Old driver", "", *CUT], []),
        ([*CUT, "", "This message means that the driver is older than the runtime."], []),
        (["Exit status 4.", "", '  File "train.py", line 3, in main', *CUT[1:]], []),
        (["Exit status 4.", "", *CUT, "Update the driver."], []),
        (["Exit status 4.", "", *CUT, "", "End."], []),
        ([], []),
    ],
)
def test_a_traceback_without_its_head_at_an_edge_is_no_example(lines: list[str], found: list[tuple[int, int]]) -> None:
    assert list(at_an_edge(lines)) == found


@pytest.mark.parametrize(("program", "is_foreign"), [("signage", True), ("pt_main_thread", False), ("python3", False)])
def test_a_host_with_a_screen_trains_if_its_programs_do(program: str, *, is_foreign: bool) -> None:
    lines = (pathlib.Path(__file__).parents[2] / "fixtures/mentioned/host/kiosk-screen.log").read_text().splitlines()
    lines = [line.replace("(signage)", f"({program})") for line in lines]
    assert (list(other_systems(lines)) == [(0, len(lines) - 1)]) == is_foreign


@pytest.mark.parametrize(
    ("line", "reports"),
    [
        ("Would you like me to explain one of these?", False), ("I'd be happy to help with the next step.", False),
        ("Let me know if you want a shorter version.", False), ("Soll ich Ihnen das genauer erklären?", False),
        ("Souhaitez-vous que je détaille un point ?", False), ("需要我继续解释吗？", False),
        ("Should I set NCCL_IB_DISABLE?", True), ("Would you like me to paste more? My job hangs.", True),
        ("Can you tell me why it stops?", True),
    ],
)  # fmt: skip
def test_an_offer_of_help_is_no_report(line: str, *, reports: bool) -> None:
    assert is_reported([line]) == reports


MANY_STEPS = [
    [f"step {n}0 | loss {n}.31 | lr 3.0e-4 | 4{n}1 tokens/s" for n in range(30)],
    [f"{{'loss': {n}.31, 'grad_norm': 0.4, 'epoch': 0.{n}}}" for n in range(30)],
    [f"n1:{n}:{n} [{n}] NCCL INFO Connected all rings" for n in range(30)],
]
SAYS = [
    "Validation on the held-out set is done.", "The best checkpoint was written to the shared disk.",
    "Waiting for the other ranks to come to the barrier.",
    "DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that workers are out of shared memory.",
    "The trainer stops now.",
]  # fmt: skip


@pytest.mark.parametrize("steps", MANY_STEPS, ids=["steps", "dicts", "ranks"])
def test_what_a_program_says_in_sentences_below_many_steps_is_no_example(steps: list[str]) -> None:
    lines = ["The model has 7 billion parameters.", *steps, *SAYS]
    assert not mentioned(lines, (), {len(lines) - 2: Failure("process-end", True, False)})


def test_the_same_in_many_sentences_beside_a_table_of_figures_is_one() -> None:
    lines = [*SUGGESTS, *["A sentence on the memory of a model.", ""] * 20, *MANY_STEPS[0][:9], "", *SAYS]
    assert mentioned(lines, (), {len(lines) - 2: Failure("process-end", True, False)})


def test_a_document_is_one_though_its_lines_come_again() -> None:
    quoted = "`RuntimeError: Failed to find C compiler` is printed when CC is unset."
    assert mentioned([*SUGGESTS, *[quoted, ""] * 4, *SUGGESTS], ())


@pytest.mark.parametrize("times", [1, 4, 5, 8, 64])
def test_exceptions_of_ranks_are_no_log_of_a_service(times: int) -> None:
    thrown = 'zmq.error.ZMQError: ipc path "/scratch/jobs/812/tmp/5d0e1f8a" is longer than 107 characters.'
    assert not mentioned([thrown] * times)
    assert not mentioned([f"java.net.ConnectException: Connection refused, {n}" for n in range(times)])


def test_exceptions_below_lines_of_a_service_are_of_its_log() -> None:
    own = "2026-03-02 11:09:51,102 ERROR [main] o.a.k.clients.NetworkClient: Disconnected"
    assert mentioned([own, *["java.net.ConnectException: Connection refused", "\tat a.b.C.d(C.java:7)"] * 3])


PIECES = (
    "# Title\n\nIf you see it, set A.\n\n", "Q: why?\nA: so.\n\n", "## 1.2.3\n- fix a\n", "commit 1234567\nAuthor: a\n",
    'x = f("""a', "> quoted\n", f"{RULE}\n", "```\n", "n1:1:2 [0] NCCL INFO a\n", "-" * 500, "#1 " * 50,
    "10:00 <a> b\n", "<dl>\n<dt>a b c\n", ".TH a\n", "A(8)  b  A(8)\n", ";a b c\n:d\n", "a.c:1\nLGTM\n",
    "Status: closed\n\na b\n\n", "Status: closed\n", "# Resolved\n\nDone.\n", "Present: A, B\n\n- c\n",
    "=head1 A\n", "<details><summary>a b c</summary>\n", "a.b: {c}\n", 'msgid "a"\n', "It is resolved\n\n",
    "- a b c :: d\n", "- a: done\n", "Done\n\n- a b\n", "a b\n0  c  d\n1  c  d\n2  c  d\n",
    "# n1:1:2 [0] NCCL INFO a\n", 'n1:   File "a", line 1\n', r"\n\n\n", "Traceback (most recent call last)\n",
    "Resolved issues\n\n3310221  a b\n", "a commented 2 days ago\n@@ -1 +1\nb approved these changes\n",
    "a message of it   17.2%\n", '"panels": [\n"expr": "a"\n',
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_the_time_is_linear(piece: str) -> None:
    assert_linear_time(mentioned, lambda size: (piece * size).split("\n"), 100)


def test_lines_of_an_ssh_server_about_its_clients_are_of_another_system() -> None:
    scan = "Mar  3 04:00:00 gpu7 sshd[71]: error: kex_exchange_identification: Connection closed by remote host"
    own = "Mar  3 04:00:01 gpu7 sshd[72]: error: Bind to port 22 failed"
    kernel = "Mar  3 04:00:02 gpu7 kernel: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus"
    assert [found.lines for found in mentioned([scan, own, kernel])] == [range(1)]


@pytest.mark.parametrize("character", ["-", ".", ": "])
def test_the_time_for_a_line_of_one_character_is_linear(character: str) -> None:
    assert_linear_time(mentioned, lambda size: [character * (size // len(character))] * 100, 200)


@pytest.mark.parametrize("word", ["a.b-c ", "n1:2:3 [0] ", "x" * 79 + ":1 ", "# "])
def test_the_search_for_a_run_is_linear_in_a_line(word: str) -> None:
    assert_linear_time(of_run, lambda size: ["NCCL " + word * (size // len(word))] * 4, 8000)
