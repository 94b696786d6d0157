"""Lines of programs that nobody wrote a message for: a failure is known by its form or by its words."""

from __future__ import annotations

import pytest

from ncdiag.parsers import _complaints, _context, _failing, _languages
from ncdiag.parsers._ends import find as find_end
from ncdiag.parsers._prose import is_curt, is_prose

WORDED = """
Unable to reach the metadata service of this instance
mad_rpc: do_rpc failed; dport (Lid 40)
Failed to move QP 77 to RTS
cma event RDMA_CM_EVENT_ROUTE_ERROR, error -110
queue_create: HSA_STATUS_ERROR_OUT_OF_RESOURCES
blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable
kubelet: Container worker failed liveness probe, will be restarted
3m (x4 over 9m)  Warning  FailedMount  pod/worker-1  MountVolume.SetUp failed for volume "data"
srun: error: launch of task 7 timed out
Memory access fault by GPU node-5 on address 0x7f22
opensm[88]: ERR 7504: Received trap in error
lnet: server st07 is not responding
# Wrong values : 12 FAILED
Pod worker-2 was evicted: the node ran low on memory
(agent) node 10.1.0.7 has been marked dead
worker_9 disconnected before it answered
job_slots exceeded the limit of the queue
cudaErrorDevicesUnavailable in init
cuDeviceGet(0) returned 101
JobState=NODE_FAIL Reason=NodeDown
8 packets transmitted, 2 received, 75% packet loss, time 7100ms
watchdog timeout (self.limit=300)
Unhandled exception in the monitor thread
giving up on rank 3 after 5 tries
failed to set up rank_3 using the default group
error: could not make a socket while creating store_2
recv_header: checksum mismatch in a message of rank 3
/usr/bin/ssh: Argument list too long
run.sh: line 12: /opt/mpi/bin/mpirun: Exec format error
slurmstepd[811]: write /var/spool/job7: Disk quota exceeded
trainer: open /data/x.bin: Stale file handle
"""
CHATTER = """
stty: 'standard input': Inappropriate ioctl for device
cat: /sys/class/net/eth0/speed: No such file or directory
grep: data: Is a directory
retrying: connect to n1: Connection timed out
the man page explains Broken pipe
0 failed, 128 passed in 12.3s
link failures: 0
Number of failed requests: 0
Remapping Failure Occurred: No
step 100 error 0.0123 accuracy 0.92
Failed to import the fused kernels, falling back to eager mode
/opt/lib/extension.py:13: UserWarning: Failed to load the image extension
Cannot find a cache, using defaults
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
TORCH_NCCL_ASYNC_ERROR_HANDLING: 3, TORCH_NCCL_TRACE_BUFFER_SIZE: 2000
fault tolerance enabled: True, max failures 3
retry_on_failure: true
{"failed": 3}
All checks passed, no errors found.
watchdog timeout (ms) 600000
open(libnccl-tuner-x.so) returned 2 : libnccl-tuner-x.so: cannot open shared object file: No such file or directory
heartbeat timeout set to 60 seconds
rendezvous timeout 600
L2 error: 0.00012
relative error: 1e-5
"failed": 0, "passed": 12
killed 0 stale workers
Could not find a cached copy, building it
4 packets transmitted, 4 received, 0% packet loss, time 3004ms
Does it fail when the timeout is longer?
It no longer failed after the update of the driver
I think that the second node cannot see the first one
"""
ENDS = [
    ("trainer.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED", "exit_code", 3),
    ("trainer.service: Main process exited, code=killed, status=9/KILL", "signal", 9),
    ("Process finished with exit code 134 (interrupted by signal 6: SIGABRT)", "signal", 6),
    ("signal: killed", "signal", 9),
    ("Task 3 was terminated by signal 15", "signal", 15),
]


def lines(text: str) -> list[str]:
    return text.strip("\n").splitlines()


def worded(line: str) -> bool:
    context, text = _context.split(line)
    return _failing.find(text, context) is not None


@pytest.mark.parametrize("line", lines(WORDED))
def test_the_words_of_a_failure_are_known(line: str) -> None:
    assert worded(line)


@pytest.mark.parametrize("line", lines(CHATTER))
def test_counters_warnings_and_fall_backs_are_no_failures(line: str) -> None:
    assert not worded(line)


@pytest.mark.parametrize("head", ["libnccl-net", "nccl-net", "l-tuner", "-env", "profiler", "net", "et", "filer", "r"])
def test_a_library_that_nccl_does_without_is_no_failure_without_its_first_letters(head: str) -> None:
    assert not worded(f"{head}.so: cannot open shared object file: No such file or directory")


@pytest.mark.parametrize("cut", range(1, 9))
def test_what_nccl_tells_for_information_is_no_failure_without_its_first_letters(cut: int) -> None:
    assert not worded("NCCL INFO NET/IB : No device found."[cut:])


@pytest.mark.parametrize("line", ["O_DIRECT write failed: disk full", "OK, the copy failed: disk full"])
def test_other_words_that_begin_alike_are_one(line: str) -> None:
    assert worded(line)


def test_another_library_that_is_missing_is_one() -> None:
    assert worded("libmlx5.so.1: cannot open shared object file: No such file or directory")


@pytest.mark.parametrize("level", ["I", "W"])
def test_a_level_below_error_is_believed(level: str) -> None:
    assert not worded(f"{level}0603 10:11:12.123456 4321 queue.cc:38] push failed: full")
    assert worded("queue.cc:38 push failed: full")


@pytest.mark.parametrize("line", ["aa:" * 190 + "!", "a:  " * 140 + "!", "A_" * 290, "no a " * 110, "((" * 290])
def test_hostile_lines_are_read_in_passing(line: str) -> None:
    """Patterns that go back and forth would take hours over these, and the suite with them."""
    for _ in range(50):
        worded(f"failed {line}")


@pytest.mark.parametrize(("line", "field", "value"), ENDS)
def test_an_end_is_known_by_its_form(line: str, field: str, value: int) -> None:
    found = find_end(line, _context.Context())
    assert found is not None
    assert found.fields == {field: value}


@pytest.mark.parametrize(
    "line", ["free(): invalid size", "*** stack smashing detected ***: terminated", "x: fatal: no device"]
)
def test_what_the_c_library_ends_is_an_error(line: str) -> None:
    found = find_end(line, _context.Context())
    assert found is not None
    assert found.event == "program-error"


def test_whoever_writes_about_exit_codes_reports_none() -> None:
    assert find_end("If it exits with exit code 1 you should look at the other ranks", _context.Context()) is None


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("Das Training hängt seit einer Stunde im ersten all_reduce", "hangs"),
        ("seit heute bricht unser Training auf zwei Knoten ab", "fails"),
        ("Das Training stürzt ab", "fails"),
        ("le job est bloqué au démarrage et rien ne bouge", "hangs"),
        ("el entrenamiento se queda colgado después de la primera iteración", "hangs"),
        ("o treino travou depois que o segundo nó entrou", "hangs"),
        ("il training si blocca dopo il primo passo", "hangs"),
        ("обучение зависает после инициализации", "hangs"),
        ("학습이 첫 번째 스텝에서 멈춥니다", "hangs"),
        ("la bande passante est trop lente entre les deux nœuds", "slow"),
        ("die Verbindung funktioniert leider nicht mit zwei Knoten", "fails"),
        ("Nodes can't see each other", "fails"),
        ("GPUs are busy but nothing moves", "hangs"),
        ("we only get 2 GB/s between two nodes", "slow"),
    ],
)
def test_people_complain_in_their_languages(sentence: str, what: str) -> None:
    assert is_prose(sentence)
    assert _complaints.find(sentence) == what


@pytest.mark.parametrize(
    ("line", "curt"),
    [("training on two nodes hangs", True), ("all_reduce hangs", False), ("hang detector started", False),
     ("2 of 8 ranks hang", False)],
)  # fmt: skip
def test_few_words_are_enough_for_a_person_in_a_hurry(line: str, curt: bool) -> None:
    assert is_curt(line) is curt


@pytest.mark.parametrize(
    "line", ["Loading the model on device 0", "A future release will change the behaviour of this option"]
)
def test_english_and_programs_are_no_other_language(line: str) -> None:
    assert _languages.complaint(line) is None


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("The throughput of the job halved last night.", "slow"),
        ("The step time doubled since Monday.", "slow"),
        ("The throughput of the job is as always.", None),
        ("Nothing crashed, and no rank has failed.", None),
        ("None of the processes hang.", None),
        ("Nothing works, it hangs at the start.", "hangs"),
        ("No rank has failed, but the job hangs.", "hangs"),
    ],
)
def test_what_nothing_and_nobody_does_is_no_complaint(sentence: str, what: str | None) -> None:
    assert _complaints.find(sentence) == what


@pytest.mark.parametrize("line", ["Nothing crashed.", "nothing has failed", "no job failed"])
def test_what_nothing_does_is_no_failure(line: str) -> None:
    assert _failing.find(line, _context.split(line)[0]) is None
