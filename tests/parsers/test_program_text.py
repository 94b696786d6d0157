"""Text between the tools: what programs print is found, what people write is not."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.base.spans import Section
from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Parsed
from ncdiag.messages.load import load_messages
from ncdiag.messages.match import default_matcher
from ncdiag.messages.message import Message
from ncdiag.parsers import _context, _events, text

PROGRAM_MESSAGES = [m for m in load_messages(samples=False) if m.origin in _events.PROGRAMS]
BARE_MESSAGES = [m for m in load_messages(samples=False) if m.origin == "bare"]


def read(*lines: str, host: str | None = None, prefix: str = "") -> Parsed:
    return text.parse(Section(kind="text", source="x", first_line=1, lines=lines, host=host, prefix=prefix))


def events(*lines: str) -> list[dict[str, Any]]:
    return [o.fields for o in read(*lines).observations if o.entity == "Event"]


def named(*lines: str) -> list[str]:
    return [event["event"] for event in events(*lines)]


def test_every_example_is_found_as_its_own_message() -> None:
    wrong = []
    for message in PROGRAM_MESSAGES:
        found = default_matcher().find(message.example, _events.PROGRAMS)
        if found is None or (found.event, found.message.text) != (message.event, message.text):
            wrong.append(f"{message.event}: {message.example}: is {found.event if found else None}")
        behind = default_matcher().find(f"[rank3]:[E1103 07:41:10.1 file.cpp:63] {message.example}", _events.PROGRAMS)
        if behind is None or behind.event != message.event:
            wrong.append(f"{message.event}: {message.example}: is {behind.event if behind else None} behind a prefix")
    assert wrong == []


@pytest.mark.parametrize("message", BARE_MESSAGES, ids=lambda m: m.text)
def test_a_bare_text_counts_only_as_a_whole_line(message: Message) -> None:
    assert named(message.text) == [message.event]
    assert named(f"[rank1]: {message.text}") == [message.event]
    assert named(f"I think that it was {message.text} in the end") == []


def requests(*numbers: int) -> list[str]:
    return [f'10.0.0.1 - - [01/May/2024:00:00:{each:02} +0000] "GET /{each} HTTP/1.1" 200 7' for each in numbers]


def test_of_the_requests_that_a_server_answers_in_a_row_the_first_and_the_last_count() -> None:
    assert [event["text"] for event in events(*requests(*range(40)))] == requests(0, 39)
    failure = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    found = events(*requests(1, 2, 3), failure, *requests(5, 6, 7, 8))
    assert [event["text"] for event in found if event["event"] == "program-serves"] == requests(1, 3, 5, 8)
    assert [event["text"] for event in events(*requests(1, 2, 1, 3))] == requests(1, 2, 3)


def test_where_a_server_runs_is_kept_between_its_requests() -> None:
    served = "INFO:     Uvicorn running on http://0.0.0.0:8000"
    assert len([e for e in events(*requests(1, 2, 3), served, *requests(4, 5, 6)) if e["fields"]]) == 1


PROSE = """\
NCCL operation timed out after half an hour, any idea why?
The watchdog caught a timeout on rank 3 and then everything died.
My job hangs in all_reduce when I use two nodes, but one node is fine.
I get a connection refused error when the workers start.
We see CUDA out of memory on rank 0 only, which is strange.
Some operations have failed or timed out, so I restarted the container.
The GPU has probably fallen off the bus, the admin says.
It might be an Xid 79, but I cannot read dmesg on this cluster.
Is it possible that the server socket is already in use by another job?
Sometimes one process is killed with signal 9 and I do not know by whom.
The exit code was 137, so I guess that the memory limit was hit.
There is no route to host 10.0.0.4 from the login node.
Too many open files was the error last week, we raised the limit.
Open MPI cannot connect to the peer if docker is running.
An illegal memory access happens for messages above 512 KiB.
The driver version is too old for CUDA 12, maybe?
peermem is loaded and the link is up, ibstat says Active.
How do I find out which interface gloo uses?
All ranks print the NCCL version, so NCCL is found.
Please check that the ranktable is valid and that all devices are up.
Segmentation fault in my own code was fixed yesterday.
We disabled the IOMMU and ACS in the BIOS, no change.
Host key verification is switched off in our ssh config.
The heartbeat monitor fires after 480 seconds, should I raise it?
It says permission denied, although I am root in the container.
unhandled system errors are all I ever see
1. Increase shared memory by setting the --shm-size option when starting docker.
- rank 0: node1, rank 1: node2 (both have mlx5_0 and mlx5_1)
You can set NCCL_DEBUG=INFO and NCCL_SOCKET_IFNAME=eth0, says the documentation.
Socket connections time out only between racks.
Reason: our OOM killer settings.
"""


@pytest.mark.parametrize("line", PROSE.splitlines())
def test_prose_tells_no_event(line: str) -> None:
    parsed = read(line)
    assert [found for found in parsed.observations if found.entity != "Complaint"] == []
    assert parsed.unread == (0,)


def test_a_message_quoted_word_for_word_counts() -> None:
    assert named('The second node says "Bootstrap : no socket interface found" and stops.') == ["no-socket-interface"]
    assert named("It prints `uncorrectable ECC error encountered` on one GPU.") == ["cuda-memory-error"]
    assert named('He says "the network is down" all the time.') == []


@pytest.mark.parametrize(
    "line", ["I got cudaErrorLaunchFailure, what does it mean?", "cudaErrorLaunchFailure 是什么意思\uff1f"]
)
def test_whoever_asks_what_an_error_means_tells_no_event(line: str) -> None:
    assert named(line) == []
    assert named("I got cudaErrorLaunchFailure, what can I do?") == ["program-cuda-failure"]


@pytest.mark.parametrize(
    ("prefix", "rank", "pid"),
    [
        ("[rank3]: ", 3, None),
        ("[Rank 3] ", 3, None),
        ("[1,3]<stderr>:", 3, None),
        ("[prterun-b01-77@1,3]<stdout>: ", 3, None),
        ("(VllmWorker rank=3 pid=812) ERROR 06-19 07:06:13 [executor.py:527] ", 3, 812),
        ("(WorkerDict pid=812, ip=10.1.0.4) [rank3]:[E1103 07:41:10.1 ProcessGroupNCCL.cpp:6] [PG 0 Rank 3] ", 3, 812),
        ("(head, rank=0, pid=812) ", None, 812),
        ("2026-11-03 07:41 [rank3]:[E1103 07:41:10.1 x.cpp:6] [Rank 1] ", 3, None),
        ("[default3]: ", None, None),
        ("E1103 07:41:10.123 812 worker.cc:55] ", None, None),
        ("Epoch 2:  4%|x  | 1/9 [00:01<00:02, loss=1][rank3]:[E1103 07:41:10.1 x.cpp:6] [Rank 3] ", 3, None),
        ("", None, None),
    ],
)
def test_prefixes_tell_rank_and_process(prefix: str, rank: int | None, pid: int | None) -> None:
    (event,) = events(prefix + "CUDA error: unspecified launch failure")
    assert (event.get("rank"), event.get("pid")) == (rank, pid)


@pytest.mark.parametrize(
    ("prefix", "seconds"),
    [
        ("2026-11-03 07:41:10 ", 1793691670.0),
        ("[2026-11-03 07:41:10,250] ", 1793691670.25),
        ("2026-11-03T07:41:10.5+01:00 ", 1793688070.5),
        ("2026-11-03T07:41:10Z ", 1793691670.0),
        ("[Tue Nov  3 07:41:10 2026] ", 1793691670.0),
        ("[E1103 07:41:10.5 x.cpp:6] ", None),
        ("2026-13-45 99:99:99 ", None),
    ],
)
def test_only_a_full_date_gives_a_time(prefix: str, seconds: float | None) -> None:
    context, rest = _context.split(prefix + "text")
    assert (context.time, rest) == (seconds, "text")


def test_repeats_of_one_rank_are_counted_and_other_ranks_are_not() -> None:
    line = "[rank{}]: CUDA error: unspecified launch failure"
    found = events(line.format(0), line.format(1), line.format(0))
    assert [(event["rank"], event["count"]) for event in found] == [(0, 2), (1, 1)]


def test_the_line_behind_last_error_is_nccls_own() -> None:
    found = events("node-1: Last error:", "node-1: Duplicate GPU detected : rank 3 and rank 0 both on CUDA device f000")
    assert [(event["event"], event["origin"]) for event in found] == [("duplicate-gpu", "nccl")]
    assert named("Last error:", "something that no release prints") == ["torch-last-error"]


def test_an_error_that_is_passed_on_is_told_as_well() -> None:
    line = "[Rank 1] NCCL watchdog thread terminated with exception: CUDA error: uncorrectable ECC error encountered"
    assert named(line) == ["torch-watchdog-terminated", "cuda-memory-error"]
    line = "Cuda failure common.cu:891 'no CUDA-capable device is detected'"
    assert named(line) == ["program-cuda-failure", "cuda-no-device"]


def test_a_timeout_repeated_by_the_watchdogs_end_is_one_timeout() -> None:
    work = "WorkNCCL(SeqNum=5, OpType=BARRIER, NumelIn=1, NumelOut=1, Timeout(ms)=9)"
    said = f"[Rank 2] Watchdog caught collective operation timeout: {work} ran for 10 milliseconds before timing out."
    parsed = read(said, f"[PG 0 Rank 2] Process group watchdog thread terminated with exception: {said}")
    assert [o.fields["ran_ms"] for o in parsed.observations if o.entity == "Timeout"] == [10]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (
            ("[Rank 1] Caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[1], "
            "Timeout(ms)=9) ran for 11 milliseconds before timing out."),
            {"rank": 1, "operation": "ALLREDUCE", "timeout_ms": 9, "ran_ms": 11, "given_up": True},
        ),
        (
            ("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=GATHER, "
            "TensorShape=[2, 3], Timeout(ms)=9) ran for 11 milliseconds before timing out."),
            {
                "rank": 1, "sequence": 5, "operation": "GATHER", "timeout_ms": 9, "ran_ms": 11, "given_up": True,
            },
        ),
        (
            "[Rank 1] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=5, OpType=SEND, New=1",
            {"rank": 1, "sequence": 5, "operation": "SEND", "given_up": True},
        ),
        (
            "RuntimeError: [Rank 1] Work WorkNCCL(SeqNum=5, OpType=BARRIER, Timeout(ms)=9) timed out in blocking wait.",
            {"rank": 1, "sequence": 5, "operation": "BARRIER", "timeout_ms": 9, "given_up": True},
        ),
        (
            "[PG 0 Rank 1] Timeout at NCCL work: 5, last enqueued NCCL work: 8, last completed NCCL work: 4.",
            {"rank": 1, "sequence": 5, "last_enqueued": 8, "last_completed": 4, "given_up": True},
        ),
        (
            ("[PG 0 Rank 1] Received a timeout signal from this local rank and will start to dump the debug info. "
            "Last enqueued NCCL work: 8, last completed NCCL work: 4."),
            {"rank": 1, "last_enqueued": 8, "last_completed": 4, "signal": "own"},
        ),
        (
            "[PG 0 Rank 1] Received a global timeout from another rank and will start to dump the debug info.",
            {"rank": 1, "signal": "other"},
        ),
        (
            ("[PG 0 Rank 1] ProcessGroupNCCL's watchdog detected a collective timeout from another rank 6 and notified "
            "the current rank. This is most likely caused by"),
            {"rank": 1, "signal": "other", "signalled_by": 6},
        ),
        (
            ("[rank1]: Received a dump signal due to a collective timeout from  rank -1 and we will try our best to "
            "dump the debug info. Last enqueued NCCL work: 8, last completed NCCL work: 8."),
            {"rank": 1, "last_enqueued": 8, "last_completed": 8, "signal": "other"},
        ),
    ],
)  # fmt: skip
def test_a_timeout_has_the_fields_that_its_release_prints(line: str, fields: dict[str, Any]) -> None:
    assert [o.fields for o in read(line).observations if o.entity == "Timeout"] == [fields]


def test_collectives_of_two_groups_with_one_number_stay_apart() -> None:
    said = "[rank1]:[E1 x.cpp:1] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType={})"
    told = [o.fields["operation"] for o in read(said.format("SEND"), said.format("RECV")).observations[2:]]
    assert told == ["SEND", "RECV"]


def test_the_version_in_an_error_is_a_fact_of_the_host() -> None:
    line = "torch.distributed.DistBackendError: NCCL error in: ../NCCLUtils.hpp:219, invalid usage, NCCL version 2.18.1"
    (version,) = [o for o in read(line, host="n1").observations if o.entity == "Host"]
    assert (version.host, version.fields) == ("n1", {"nccl_version": "2.18.1"})


def test_marked_nccl_lines_in_a_sentence_are_read_with_their_file() -> None:
    (event,) = events("fails with error text : transport/nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'")
    assert (event["origin"], event["level"], event["file"], event["line"]) == ("nccl", "WARN", "transport/nvls.cc", 165)


def test_a_rank_from_the_prefix_that_the_cutter_removed() -> None:
    parsed = read("CUDA error: unspecified launch failure", prefix="[rank6]: ")
    assert parsed.observations[0].fields["rank"] == 6


@pytest.mark.parametrize("line", ["ValueError: bad shape", "my.pkg.RemoteError", "torch.cuda.OutOfMemoryError: x"])
def test_the_last_line_of_a_traceback_alone_is_an_exception(line: str) -> None:
    assert named(line) == ["python-exception"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('Our job hangs at "Loading extension module cpu_adam..." on all ranks.', ["hangs"]),
        ("We are stuck after Loading extension module fused_adam... on 8 GPUs.", ["hangs"]),
        ("Loading extension module cpu_adam...", []),
    ],
)
def test_a_complaint_may_repeat_a_line_of_the_program(line: str, what: list[str]) -> None:
    assert [o.fields["what"] for o in read(line).observations if o.entity == "Complaint"] == what


def test_what_a_sentence_says_of_switches_tells_nothing() -> None:
    found = read("It works with NCCL_P2P_DISABLE=1, but slowly.", "We set NCCL_IB_HCA=mlx5_0 as always.")
    assert [o.entity for o in found.observations] == ["Complaint"]
    assert found.unread == (0, 1)


def test_of_progress_bars_only_the_last_state_counts() -> None:
    bars = events(*(f"Epoch 1: {n:3}%|##   | {n}/100 [00:0{n % 10}<00:30, 3.1it/s]" for n in range(40)))
    told = [(e["event"], e["fields"]) for e in bars]
    assert told[0] == ("progress-bar", {"done": 39, "total": 100})
    assert {name for name, _ in told[1:]} == {"progress-step"}


def test_beside_a_save_one_line_of_a_counter_is_enough() -> None:
    save, step = "Saving model checkpoint to /out/checkpoint-500", "step 501 loss 1.90"
    assert [e["event"] for e in events(save, step)] == ["checkpoint-save-begun", "progress-step"]
    assert not events(step)
    assert [e["event"] for e in events(save, "step 500: saving the checkpoint")] == ["checkpoint-save-begun"]


def test_a_counter_that_one_line_names_twice_has_not_risen() -> None:
    assert not events("It stops somewhere between step 200 and step 400 each time.")
    told = events("step 1 of 9, next: step 2", "step 2 of 9, next: step 3", "step 3 of 9, next: step 4")
    assert [e["fields"]["counted"] for e in told] == [2, 3]


def test_the_line_behind_last_error_is_nccl_s_own_also_when_it_looks_like_a_log() -> None:
    refused = "socketStartConnect: Connect to 10.0.0.7<40815> failed : Connection refused"
    assert named("Last error:", refused, "It stopped.") == ["socket-connect-failed"]


def test_a_blackened_address_is_an_address() -> None:
    line = "NCCL WARN socketStartConnect: Connect to {} failed : Connection refused"
    assert {name for word in ("xxx", "x.x.x.x", "<address>") for name in named(line.format(word))} == {
        "socket-connect-failed"
    }


def test_bare_channel_lines_are_those_of_the_rank_that_printed_them() -> None:
    lines = ("9[1a000] -> 2[6b000] [send] via NET/IB/0/GDRDMA", "9[1a000] -> 2[6b000] [receive] via NET/IB/1")
    ranks = {o.fields["rank"]: o.fields for o in read(*lines).observations if o.entity == "Rank" and "rank" in o.fields}
    assert ranks[9]["transports"] == {"NET/IB/GDRDMA": 1}
    assert ranks[2]["transports"] == {"NET/IB": 1}
    assert len(merge(read(*lines).observations).ranks) == 2
