"""Defects that stacks show: of running processes, of crashed ones, and what else decides between several."""

from __future__ import annotations

import pytest
from defects.test_entries import led

from ncdiag.diagnose import view_of
from ncdiag.knowledge.version.defects import leading_defects
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

ARM = "n4:8120:8120 [0] NCCL INFO NCCL version {release}+cuda12.9\n$ uname -m\n{machine}\n"
HELD = """TID 8120:
#0  0x0000ffffa11c31a4 sched_yield
#1  0x0000ffff5c0a7e90 ncclLocalOpAppend(ncclComm*, ncclProxyConnector*, ncclProxyOp*)
#2  0x0000ffff5c04a008 uploadProxyOps(ncclComm*, ncclKernelPlan*)
"""
CRASHED = """[n4:08120] *** Process received signal ***
[n4:08120] Signal: Segmentation fault (11)
[n4:08120] [ 0] /lib/libc.so.6(+0x42520)[0x7f61d2c42520]
[n4:08120] [ 1] /opt/nccl/lib/libnccl.so.2({function}+0x90)[0x7f61d50a7e90]
"""


def test_a_running_process_in_the_function_is_enough() -> None:
    assert "arm-operation-pool" in led(ARM.format(release="2.29.2", machine="aarch64") + HELD)


@pytest.mark.parametrize(("release", "machine"), [("2.29.3", "aarch64"), ("2.29.2", "x86_64")])
def test_not_with_another_release_or_processor(release: str, machine: str) -> None:
    assert "arm-operation-pool" not in led(ARM.format(release=release, machine=machine) + HELD)


def test_not_if_the_process_crashed_there() -> None:
    text = ARM.format(release="2.29.2", machine="aarch64") + CRASHED.format(function="ncclLocalOpAppend")
    assert "arm-operation-pool" not in led(text)


@pytest.mark.parametrize("frames", [
    CRASHED.format(function="rasClientRunComms"),
    ("Caught signal 11 (Segmentation fault)\n==== backtrace (tid:   8120) ====\n"
    " 0 0x0000000000012d10 __funlockfile()  ???:0\n 1 0x00000000002a1c3c rasClientRunComms()  ???:0\n"),
    "*** SIGSEGV received at time=1763440001 on cpu 11 ***\n    @     0x7ff1c18c309d        112  rasClientRunComms()\n",
])  # fmt: skip
def test_a_crash_is_known_by_the_functions_of_its_stack(frames: str) -> None:
    version = "n4:8120:8120 [0] NCCL INFO NCCL version {}+cuda12.9\n"
    assert "ras-client-crash" in led(version.format("2.28.3") + frames)
    assert "ras-client-crash" not in led(version.format("2.29.7") + frames)
    assert "ras-client-crash" not in led(version.format("2.28.3") + frames.replace("rasClientRunComms", "otherThread"))


def test_of_several_the_one_with_the_latest_fix_is_first() -> None:
    text = "n4:8120:8120 [0] NCCL INFO NCCL version 2.26.5+cuda12.9\n" + CRASHED.format(function="rasClientRunComms")
    (host,) = (view := view_of(read_all([TextSource.of_bytes("log", text.encode())]).job())).job.hosts
    names = leading_defects(host, view)
    assert names[0] == "ras-client-crash"
    assert len(names) > 1


def test_a_hang_is_of_the_rank_whose_kernel_failed() -> None:
    text = "Training hangs after an hour.\n" + ARM.format(release="2.29.2", machine="aarch64")
    xid = "[ 4711.1] NVRM: Xid (PCI:0000:0f:00): 31, pid=1234, name=python, MMU Fault: ENGINE GRAPHICS faulted\n"
    assert "arm-operation-pool" in led(text)
    assert "arm-operation-pool" not in led(text + "[root@n4 ~]# dmesg\n" + xid)


def test_what_helps_is_as_good_as_the_part_of_a_condition_that_nothing_shows() -> None:
    version = "n1:10:20 [0] NCCL INFO NCCL version 2.29.7+cuda12.9\n"
    text = f"The job hangs at start, and 52 process groups are created.\n{version}"
    assert "handle-exchange" not in led(text)
    assert "handle-exchange" in led(text + "With NCCL_CUMEM_ENABLE=0 it works.\n")
    assert "handle-exchange" not in led(text + "With NCCL_P2P_DISABLE=1 it works.\n")


def test_mixed_lines_of_two_ranks_are_two_stacks() -> None:
    frame = "[rank{rank}]: frame #{depth}: {name}(int) + 0x96 (0x7f1 in /opt/torch/lib/libtorch_cuda.so)\n"
    lines = [(0, 0, "c10::Error"), (1, 0, "c10::Error"), (0, 1, "c10d::checkNothing"), (1, 1, "c10d::abort")]
    text = "".join(frame.format(rank=rank, depth=depth, name=name) for rank, depth, name in lines)
    dumps = read_all([TextSource.of_bytes("log", text.encode())]).job().stack_dumps
    found = {dump.rank: [each.function for each in dump.threads[0].frames] for dump in dumps}
    assert found == {0: ["c10::Error", "c10d::checkNothing"], 1: ["c10::Error", "c10d::abort"]}
