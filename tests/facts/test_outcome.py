"""What became of a job, and how far it came."""

from __future__ import annotations

import pytest

from ncdiag.engine.fields import read
from ncdiag.facts.view import View
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

BOOTSTRAP = "n1:40:51 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>\n"
CONNECT = BOOTSTRAP + "n1:40:51 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
READY = CONNECT + "n1:40:51 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x9 - Init COMPLETE\n"
WARN = "n1:40:51 [0] misc/socket.cc:50 NCCL WARN Net : Call to recv from 10.1.2.4<4081> failed : Broken pipe\n"
ENDED = "n1:40:51 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 - Destroy COMPLETE\n"
STEPS = "".join(f"step {number} loss 2.{number}\n" for number in range(1, 7))
RENDEZVOUS = (
    "torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (n1, 29500)."
)


def of(text: str, field: str) -> object:
    view = View(job_of([read_source(TextSource.of_bytes("log", text.encode()))]))
    return read(view.job, field, view)


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        (BOOTSTRAP, "bootstrap"), (CONNECT, "connect"), (READY, "first-collective"), (READY + STEPS, "later"),
        (RENDEZVOUS, "rendezvous"), ("nothing\n", None),
    ],
)  # fmt: skip
def test_how_far_it_came(text: str, phase: str | None) -> None:
    assert of(text, "phase") == phase


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (READY, "unknown"), (READY + STEPS, "running"), (READY + STEPS + WARN, "failed"),
        (READY + WARN + STEPS, "running"), (WARN + READY, "unknown"),
        (READY + ENDED, "finished"), (READY + WARN + ENDED, "failed"),
        (READY + ENDED.replace("Destroy", "Abort"), "unknown"),
        (READY + READY.replace("n1", "n2").replace("rank 0", "rank 1") + ENDED, "unknown"),
        (READY + ENDED.replace("nranks 2", "nranks 1"), "unknown"),
    ],
)  # fmt: skip
def test_what_became_of_it(text: str, outcome: str) -> None:
    assert of(text, "outcome") == outcome


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ("step 1000|step 2000|step 3000", "running"), ("step 1000|step 1001|step 1002", "failed"),
        ("step 1000|step 2000|step 1000", "failed"), ("samples: 1000|samples: 2000|samples: 3000", "failed"),
    ],
)  # fmt: skip
def test_a_log_of_few_steps_tells_by_their_numbers_that_the_job_went_on(counts: str, outcome: str) -> None:
    before, *after = (f"{count} loss 2.1\n" for count in counts.split("|"))
    assert of(READY + before + WARN + "".join(after), "outcome") == outcome


HELLO = "".join(f"Hello, world, I am {rank} of 2, (Open MPI v4.1.5, package: Open MPI)\n" for rank in range(2))
REFUSED = "srun: error: n1: task 1: Exited with exit code 1\n"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (REFUSED + HELLO, "finished"),
        (HELLO + REFUSED, "failed"),  # it greets first
        ("It hangs after the greeting.\n\n" + REFUSED + HELLO, "failed"),
        (READY + WARN + HELLO, "failed"),  # a job of NCCL
    ],
)
def test_a_greeting_of_all_ranks_shows_that_mpi_works(text: str, outcome: str) -> None:
    assert of(text, "outcome") == outcome


def test_steps_and_bars_are_counted_in_the_order_of_the_input() -> None:
    bars = "".join(f"Epoch 1:  {n}0%|###| {n}/9 [00:0{n}<00:09,  1.0it/s]\n" for n in range(1, 7))
    assert of(READY + STEPS + WARN + bars, "outcome") == "running"


FULL = "OSError: [Errno 28] No space left on device: '/data/step100.pt'\n"
DATED = "".join(f"2026-03-02 04:11:{n:02d},123 INFO step {n} loss 2.{n:02d}\n" for n in range(12))
UNDATED = "".join(f"step {n} loss 2.{n:02d}\n" for n in range(12))


@pytest.mark.parametrize("steps", [DATED, UNDATED])
def test_the_log_of_another_node_below_is_no_sign_that_the_job_went_on(steps: str) -> None:
    assert of(steps + FULL + "\nand on the second node:\n\n" + steps, "outcome") == "failed"
    assert of(steps + FULL + steps.replace("step ", "step 1"), "outcome") == "running"
    assert of(steps + FULL + steps.replace(" 04:", " 05:"), "outcome") == ("running" if steps is DATED else "failed")


def of_nodes(first: str, second: str) -> object:
    return of(f"user@n0:~$ tail train.log\n{first}user@n1:~$ tail train.log\n{second}", "outcome")


def test_the_log_of_another_node_below_its_own_prompt_is_none_either() -> None:
    assert of_nodes(UNDATED + FULL, UNDATED) == "failed"
    assert of_nodes(UNDATED + FULL, UNDATED.replace("step ", "step 1")) == "running"  # it came further
    assert of_nodes(UNDATED + FULL + UNDATED.replace("step ", "step 1"), UNDATED) == "running"


GONE = "n1:40:51 [0] init.cc:1853 NCCL WARN comm 0x55d0c81a2f30 has already been destroyed\n"
CODE = "d3 nv-fabricmanager[301]: fabric manager config file item: STATE_FILE_NAME has an invalid value\n"


WAITS = "JobState=PENDING Reason=ReqNodeNotAvail Dependency=(null)\n"  # granted by steps that come later


@pytest.mark.parametrize("failed", [GONE, "Apr  7 08:21:40 " + CODE, WAITS])
def test_the_steps_say_whose_log_it_is_where_the_line_names_another_host(failed: str) -> None:
    assert of_nodes(UNDATED + failed, UNDATED) == "failed"
    assert of_nodes(UNDATED + failed + UNDATED.replace("step ", "step 1"), UNDATED) == "running"
    assert of_nodes(UNDATED + failed, UNDATED.replace("step ", "step 1")) == "running"


def test_steps_that_are_earlier_by_their_time_are_none() -> None:
    failed = "2026-03-02 04:11:30,000 ERROR " + FULL
    earlier = DATED.replace("step ", "step 1").replace(" 04:", " 03:")
    assert of(DATED + failed + earlier, "outcome") == "failed"
    assert of(DATED + failed + earlier.replace(" 03:", " 05:"), "outcome") == "running"


def test_a_counter_of_an_epoch_begins_again() -> None:
    epochs = ["".join(f"Epoch {epoch} step {n} loss 2.{n:02d}\n" for n in range(12)) for epoch in (1, 2)]
    assert of(epochs[0] + FULL + epochs[1], "outcome") == "running"


RETRY = "[W socket.cpp:752] The client socket has failed to connect to [n1]:29500 (errno: 111 - Connection refused).\n"
STALL = (
    "[W stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by "
    "subset of ranks and are waiting for remainder of ranks for more than 60 seconds.\nMissing ranks:\n1: [grads_0]\n"
)
JAX = (
    "E0303 10:00:10.000000 77 agent.cc:388] Failed to connect to coordination service: UNAVAILABLE: failed to connect "
    "to all addresses; last error: UNKNOWN: ipv4:10.0.0.5:1234: Failed to connect to "
    "remote host: Connection refused. Retrying.\n"
)
GAVE_UP = "DistNetworkError: The client socket has timed out after 60s while trying to connect to (n1, 29500).\n"
LOST = "[n1:100  :0:100] ib_mlx5_log.c:171  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81)\n"
LIMIT = "RuntimeError: retry limit reached for the store at n1:29500\n"
TWO = "epoch 1 loss 2.1\nepoch 2 loss 2.0\n"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (RETRY * 2 + TWO, "running"), (RETRY * 2 + READY, "unknown"), (RETRY + TWO + "Training finished\n", "finished"),
        ("epoch 1 loss 2.1\n" + STALL + TWO.replace("1", "2"), "running"), (JAX + TWO, "running"),
        (TWO + STALL, "failed"),  # nothing after it
        (TWO + RETRY, "failed"),
        (RETRY * 2, "failed"), (JAX, "failed"),
        (RETRY + TWO + RETRY, "failed"),  # the same line again, after the steps
        (STALL + TWO + STALL + "epoch 3 loss 1.9\n" + STALL, "failed"),
        (STALL + TWO + STALL + "epoch 3 loss 1.9\n", "running"),
        (GAVE_UP + TWO, "failed"), (GAVE_UP + READY, "failed"),  # that process does not try again
        (JAX.replace("Retrying", "Giving up after 3 retries") + TWO, "failed"),
        (RETRY + READY + WARN, "failed"),  # another failure
        ("epoch 0 loss 2.2\n" + LOST + "epoch 1 loss 2.1\n", "failed"),  # of another rank, that did not know it yet
        (LIMIT + "epoch 1 loss 2.1\n", "failed"),
    ],
)  # fmt: skip
def test_a_wait_is_over_after_one_sign_of_the_job(text: str, outcome: str) -> None:
    assert of(text, "outcome") == outcome
