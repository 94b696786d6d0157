"""How processes ended and who stayed away, read from all lines about them together."""

from __future__ import annotations

import pytest

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import ended
from ncdiag.knowledge.collective.stragglers import unheard_ranks
from ncdiag.knowledge.launcher.endings import end_of_job, ends_the_job, is_first_end, way_it_ended
from ncdiag.text.reading.job import facts_of


def view_of(**sections: str) -> View:
    return View(facts_of({kind: (text,) for kind, text in sections.items()}, None))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            (
                "[n2:04127] Signal: Segmentation fault (11)\n"
                "mpirun noticed that process rank 3 with PID 4127 on node n2 "
                "exited on signal 11 (Segmentation fault).\n"
            ),
            "Rank 3 on n2 (signal 11, SIGSEGV)",
        ),
        (
            "=   RANK 6 PID 20121 RUNNING AT n3\n=   KILLED BY SIGNAL: 9 (Killed)\n",
            "Rank 6 on n3 (signal 9, SIGKILL)",
        ),
        (
            "=   RANK 6 PID 20121 RUNNING AT n3\n=   EXIT CODE: 139\n",
            "Rank 6 on n3 (exit code 139: signal 11, SIGSEGV)",
        ),
        (
            "srun: error: node7: task 13: Exited with exit code 1\n",
            "Task 13 on node7 (exit code 1)",
        ),
        (
            "failed (exitcode: -9) local_rank: 4 (pid: 771) of binary: /usr/bin/python3\n",
            "Local rank 4 (signal 9, SIGKILL)",
        ),
        (
            "    Last State:     Terminated\n      Reason:       Error\n      Exit Code:    139\n",
            "A process (exit code 139: signal 11, SIGSEGV)",
        ),
        (
            "The first process to do so was:\n\n  Process name: [[51234,1],3]\n  Exit code:    1\n",
            "Rank 3 (exit code 1)",
        ),
        ("srun: error: Node failure on n3\n", "Host n3 (Slurm lost it)"),
        (
            (
                "slurmstepd: error: Detected 1 oom_kill event in StepId=8.0. "
                "Some of the step tasks have been OOM Killed.\n"
                "srun: error: n3: task 17: Out Of Memory\n"
            ),
            "Task 17 on n3 (killed for lack of host memory)",
        ),
    ],
)
def test_the_first_end_is_told_with_all_that_is_known_of_it(text: str, words: str) -> None:
    view = view_of(text=text)
    assert [f"{ended(e, view)} ({way_it_ended(e, view)})" for e in view.job.events if is_first_end(e, view)] == [words]


def timeouts(ranks: list[int]) -> str:
    return "".join(
        f"[E ProcessGroupNCCL.cpp:475] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, "
        f"OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
        for rank in ranks
    )


@pytest.mark.parametrize(
    ("ranks", "unheard"),
    [([0, 1, 2, 3, 4, 6, 7], (5,)), ([0, 2, 4, 6], ()), ([0, 1, 2, 3], ()), ([3], ())],
)
def test_a_single_rank_that_says_nothing_is_named_and_a_pattern_is_not(
    ranks: list[int], unheard: tuple[int, ...]
) -> None:
    view = view_of(torch_watchdog=timeouts(ranks))
    assert unheard_ranks(view.job, view) == unheard


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("*** JOB 8 ON n1 CANCELLED AT 2026-03-01T04:12:09 DUE TO TIME LIMIT ***", "job 8 reached its time limit"),
        ("*** JOB 8 ON n1 CANCELLED AT 2026-03-01T04:12:09 DUE TO PREEMPTION ***", "job 8 made room for another job"),
    ],
)
def test_the_scheduler_ends_a_job_only_where_nothing_failed_before(text: str, reason: str) -> None:
    line = f"slurmstepd: error: {text}\n"
    view = view_of(text=line)
    assert [end_of_job(e, view) for e in view.job.events if ends_the_job(e, view)] == [reason]
    after = view_of(text=f"srun: error: n3: task 17: Segmentation fault\n{line}")
    assert not any(ends_the_job(e, after) for e in after.job.events)


WATCHDOG = (
    "[rank0]:[E1103 07:41:10.100 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=57, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)


def firsts(text: str) -> list[tuple[int | None, str]]:
    view = view_of(text=text)
    return [(e.rank, way_it_ended(e, view)) for e in view.job.events if is_first_end(e, view)]


@pytest.mark.parametrize(
    "error",
    [
        "ValueError: not a number", "KeyError: 'labels'",
        "RuntimeError: shape '[4, 8]' is invalid for input of size 30",
        "mytrainer.data.CorruptShardError: shard 7", "AssertionError: communicator of another size",
        "OSError: [Errno 28] No space left on device: '/scratch/step_900'",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    ],
)  # fmt: skip
def test_the_exception_of_another_rank_is_what_a_watchdog_waited_for(error: str) -> None:
    assert firsts(f"[rank5]: {error}\n{WATCHDOG}") == [(5, error)]


@pytest.mark.parametrize(
    "error",
    [
        "torch.distributed.DistBackendError: work was aborted", "ConnectionResetError: [Errno 104]", "EOFError",
        "RuntimeError: Process group has been shut down", "RuntimeError: peer 3 left", "KeyboardInterrupt",
        "ray.exceptions.ActorDiedError: lost", "vllm.v1.engine.exceptions.EngineDeadError: see above",
        "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated", "TimeoutError: in wait",
        "RuntimeError: Timed out waiting for a reply", "subprocess.CalledProcessError: returned 1",
    ],
)  # fmt: skip
def test_an_exception_that_tells_of_a_lost_peer_is_no_cause(error: str) -> None:
    assert firsts(f"[rank5]: {error}\n{WATCHDOG}") == []


def test_an_exception_counts_by_its_place_and_by_what_else_its_rank_says() -> None:
    assert firsts("[rank5]: ValueError: not a number\n") == []
    assert firsts(f"[rank0]: ValueError: not a number\n{WATCHDOG}") == []
    assert firsts(f"{WATCHDOG}[rank5]: ValueError: not a number\n") == [(5, "ValueError: not a number")]
    assert firsts(f"{WATCHDOG}[rank5]: RuntimeError: not a number\n") == []
