"""What an input shows to go wrong: first the inputs that show nothing of the kind."""

from __future__ import annotations

import pytest
from generate import healthy

from ncdiag.facts.model import SeenComplaint
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.phases import comm_phase
from ncdiag.messages.vocabulary.seen import seen_complaints
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def view_of(*texts: str) -> View:
    sources = [TextSource.of_bytes(f"log{number}", text.encode()) for number, text in enumerate(texts)]
    return View(job_of([read_source(source) for source in sources]))


def seen(*texts: str) -> list[SeenComplaint]:
    view = view_of(*texts)
    return list(seen_complaints(view.job, view))


def words(*texts: str) -> list[tuple[str, str | None]]:
    return [(found.what, found.phase) for found in seen(*texts)]


BOOTSTRAP = "n1:40:51 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>\n"
START = BOOTSTRAP + "n1:40:51 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x9 - Init START\n"
OTHER = "n2:70:81 [0] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 0 busId 1000 commId 0x9 - Init START\n"
CHANNEL = "n1:40:51 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
READY = START + CHANNEL + START.splitlines(keepends=True)[1].replace("START", "COMPLETE")
STEPS = "".join(f"step {number} loss 2.{number}\n" for number in range(1, 7))
REFUSED = "n1:40:51 [0] misc/socket.cc:484 NCCL WARN Net : Connect to 10.1.2.4<40815> failed : Connection refused\n"


def trace(*places: str, code: int = 1) -> str:
    return "".join(f"n1:40:51 [0] NCCL INFO {place} -> {code}\n" for place in places)


TRACE = trace("transport/p2p.cc:352", "transport.cc:34", "init.cc:1012")
BOOTSTRAP_TRACE = trace("bootstrap.cc:290", "init.cc:823", code=2)
TRANSFER_TRACE = trace("transport/net_ib.cc:1295", "transport/net.cc:1034", "proxy.cc:520", code=6)
HEAD = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROW = "     1048576        262144     float     sum      -1" + 2 * "    235.3    4.46    7.80      {0}" + "\n"
END = "# Out of bounds values : {0} {1}\n# Avg bus bandwidth    : 7.80\n#\n"
GAVE_UP = (
    "[rank{rank}]:[E ProcessGroupNCCL.cpp:523] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600123 "
    "milliseconds before timing out.\n"
)
UNMET = "DistNetworkError: The client socket has failed to connect to any network address of (n1, 29500).\n"
ABORTED = "n1:40 terminate called after throwing an instance of 'c10::DistBackendError'\nAborted (core dumped)\n"
SEGFAULT = "[n1:00040] *** Process received signal ***\n[n1:00040] Signal: Segmentation fault (11)\n"


@pytest.mark.parametrize(
    "text",
    [
        "nothing\n", START, READY, READY + STEPS, HEAD + ROW.format(0) + END.format(0, "OK"), REFUSED + READY + STEPS,
        READY + HEAD + ROW.format(0), READY + REFUSED + STEPS,
    ],
)  # fmt: skip
def test_what_goes_on_or_only_ends_shows_nothing(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "[ 1184.2] NVRM: Xid (PCI:0000:1b:00): 63, pid=812, name=python, Row Remapper: New row marked for remapping\n",
        "[ 1184.2] mlx5_core 0000:17:00.0: Port module event: module 0, Cable error, Power budget exceeded\n",
        "n1:40:51 [0] NCCL WARN Cannot initialize CollNet, using point-to-point network instead\n",
    ],
)
def test_what_the_machine_tells_and_what_the_job_does_without_is_no_trouble_of_the_job(text: str) -> None:
    assert words(READY + text) == []
    assert words(READY + text + REFUSED) == [("fails", "first-collective")]


@pytest.mark.parametrize("fabric", healthy.FABRICS)
def test_a_generated_healthy_job_shows_nothing(fabric: healthy.Fabric) -> None:
    assert words(healthy.healthy_log(healthy.healthy_job("2.21.5", fabric))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BOOTSTRAP + REFUSED, ("fails-at-init", "bootstrap")),
        (START + CHANNEL + REFUSED, ("fails-at-init", "connect")),
        (READY + REFUSED, ("fails", "first-collective")),
        (READY + STEPS + REFUSED, ("fails", "later")),
        (START + TRACE, ("fails-at-init", "connect")),
        (START + BOOTSTRAP_TRACE, ("fails-at-init", "bootstrap")),
        (READY + TRACE, ("fails-at-init", "connect")),
        (READY + TRANSFER_TRACE, ("fails", "first-collective")),
        (READY + STEPS + TRANSFER_TRACE, ("fails", "later")),
        (READY + HEAD, ("hangs", "first-collective")),
        (START + HEAD, ("hangs", "bootstrap")),
        (READY + GAVE_UP.format(rank=0, number=1), ("hangs", "first-collective")),
        (READY + STEPS + GAVE_UP.format(rank=0, number=41), ("hangs", "later")),
        (START + GAVE_UP.format(rank=0, number=1), ("hangs", "bootstrap")),
        (HEAD + ROW.format(3) + END.format(3, "FAILED"), ("wrong-results", "later")),
        (READY + STEPS + SEGFAULT, ("crashes", "later")),
        (UNMET, ("cannot-start", "rendezvous")),
        ("RuntimeError: No CUDA GPUs are available\n", ("cannot-start", None)),
    ],
)  # fmt: skip
def test_what_goes_wrong_and_when(text: str, found: tuple[str, str | None]) -> None:
    assert words(text) == [found]


def test_a_process_that_gave_up_waiting_and_ended_itself_hung() -> None:
    assert words(READY + GAVE_UP.format(rank=0, number=1) + ABORTED) == [("hangs", "first-collective")]


def test_a_process_that_crashed_and_whose_loss_others_met_by_waiting_crashed_first() -> None:
    found = words(READY + STEPS + SEGFAULT + GAVE_UP.format(rank=1, number=41))
    assert [what for what, _ in found] == ["crashes", "hangs"]


def test_a_rank_that_raises_while_others_wait_fails() -> None:
    raised = "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: batch 17 is empty\n"
    assert words(READY + STEPS + raised + GAVE_UP.format(rank=0, number=41)) == [("fails", "later"), ("hangs", "later")]
    own = raised.replace("rank1", "rank0")  # what is raised for the wait itself is no trouble of its own
    assert words(READY + STEPS + GAVE_UP.format(rank=0, number=41) + own) == [("hangs", "later")]


def test_files_that_end_alike_in_the_set_up_show_that_it_stands() -> None:
    files = [START.replace("nranks 2", "nranks 3"), OTHER.replace("nranks 2", "nranks 3")]
    assert words(*files) == [("hangs", "bootstrap")]
    assert words(files[0]) == []


def test_a_complaint_says_who_and_by_which_lines() -> None:
    found = seen(READY + GAVE_UP.format(rank=3, number=1) + GAVE_UP.format(rank=1, number=1))[0]
    assert found.where.startswith("ranks 1,3")
    assert [span.line for span in found.provenance.values()] == [5, 6]
    assert found.text == "A collective did not complete"


def test_an_echo_is_no_trouble_of_its_own() -> None:
    closed = "n1:40:51 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2<51234>\n"
    assert words(READY + STEPS + closed + SEGFAULT) == [("crashes", "later")]
    assert [what for what, _ in words(READY + STEPS + closed)] == ["fails"]


def test_a_stack_shows_that_a_process_waits_for_others() -> None:
    stack = (
        "Process 4711: /usr/bin/python3 train.py\nPython v3.11.9 (/usr/bin/python3.11)\n"
        'Thread 4711 (idle): "MainThread"\n    {function} (torch/distributed/{file}.py:279)\n'
        "    <module> (train.py:12)\n"
    )
    assert words(stack.format(function="_env_rendezvous_handler", file="rendezvous")) == [("hangs", "rendezvous")]
    assert words(stack.format(function="barrier", file="distributed_c10d")) == []


def test_gpus_that_are_busy_and_draw_little_wait_for_each_other() -> None:
    row = "{gpu}, NVIDIA A40, {load} %, {power} W, 300.00 W\n"
    head = (
        "$ nvidia-smi --query-gpu=index,name,utilization.gpu,power.draw,power.limit --format=csv\n"
        "index, name, utilization.gpu [%], power.draw [W], power.limit [W]\n"
    )
    waiting = head + "".join(row.format(gpu=gpu, load=100, power=82.5) for gpu in range(2))
    at_work = head + "".join(row.format(gpu=gpu, load=100, power=282.5) for gpu in range(2))
    assert words(READY + waiting) == [("hangs", "first-collective")]
    assert words(READY + at_work) == []
    assert words(READY + STEPS + waiting) == []
    assert words(waiting) == []


def test_the_phase_is_that_of_each_communicator() -> None:
    second = START.splitlines(keepends=True)[1].replace("comm 0x1", "comm 0x5").replace("0x9", "0x7")
    view = view_of(READY + second.replace("n1:40:51 [0]", "n1:41:52 [1]").replace("rank 0", "rank 1"))
    assert {c.id: comm_phase(c, view) for c in view.job.communicators} == {
        "0x9": "first-collective",
        "0x7": "bootstrap",
    }
