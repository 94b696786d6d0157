"""A fault of the host or its network does not take the blame for a mistake of the program."""

from __future__ import annotations

import pytest
from judged import findings

_READY = "".join(
    f"n{i + 1}:100:100 [0] NCCL INFO comm 0x7f{i} rank {i} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9a1"
    " - Init COMPLETE\n"
    for i in range(2)
)
_MISTAKE = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "fit.py", line 88, in <module>
[rank1]: KeyError: 'labels'
"""
_LOSS = "n1:100:201 [0] misc/socket.cc:81 NCCL WARN socketProgress: Connection closed by remote peer n2<43210>\n"
_NIC = "[ 9102.771002] NETDEV WATCHDOG: ens5 (ena): transmit queue 3 timed out\n"
_FIRMWARE = (
    "[ 9102.771002] mlx5_core 0000:3b:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count\n"
)
_FATAL = "n1:100:201 [0] net_ib.cc:152 NCCL WARN NET/IB : mlx5_0:1 Got async event : local catastrophic error\n"


def causes(text: str) -> list[str]:
    return [found.rule.name for found in findings(text) if found.role == "cause" and found.severity != "info"]


@pytest.mark.parametrize("loss", ["", _LOSS], ids=["alone", "and the others report the loss"])
def test_a_mistake_of_the_program_comes_before_a_card_that_was_reset(loss: str) -> None:
    assert "nic-transmit-timeout" not in causes(_READY + _MISTAKE + loss + _NIC)


def test_a_card_that_was_reset_is_the_cause_of_a_lost_connection() -> None:
    assert causes(_READY + _LOSS + _NIC)[:1] == ["nic-transmit-timeout"]


def test_an_exception_after_the_loss_is_no_mistake() -> None:
    after = _MISTAKE.replace("rank1", "rank0")
    assert causes(_READY + _LOSS + after + _NIC)[:1] == ["nic-transmit-timeout"]


def test_an_exception_that_a_network_can_raise_is_no_mistake() -> None:
    lost = _MISTAKE.replace("KeyError: 'labels'", "OSError: [Errno 107] Transport endpoint is not connected")
    assert "nic-transmit-timeout" in causes(_READY + lost + _NIC)


def test_a_fault_that_explains_another_failure_stays_a_cause() -> None:
    assert "kernel-mlx5-firmware" not in causes(_READY + _MISTAKE + _FIRMWARE)
    assert "kernel-mlx5-firmware" in causes(_READY + _MISTAKE + _FATAL + _FIRMWARE)


_HARD = "[ 5000.100000] mlx5_core 0000:1a:00.0: poll_health:800:(pid 0): Fatal error 1 detected\n"
_SLIP = """\
Traceback (most recent call last):
  File "fit.py", line 71, in close
    self.board.close()
AttributeError: 'NoneType' object has no attribute 'close'
"""
_BROKEN = """\
Traceback (most recent call last):
  File "fit.py", line 40, in <module>
    dist.barrier()
"""
_LOST = (
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2021, remote process exited or there was a"
    " network error\n"
)
_HANDLED = "\nDuring handling of the above exception, another exception occurred:\n\n"
_CAUSED = "\nThe above exception was the direct cause of the following exception:\n\n"
_IGNORED = "Exception ignored in: <function Fit.__del__ at 0x7f0>\n"


@pytest.mark.parametrize(
    "slip",
    [
        _IGNORED + _SLIP,
        _BROKEN + "OSError: [Errno 107] Transport endpoint is not connected\n" + _HANDLED + _SLIP,
        _BROKEN + "OSError: [Errno 107] Transport endpoint is not connected\n" + _CAUSED + _SLIP,
        _BROKEN + _LOST + _HANDLED + _SLIP,
        _BROKEN + _LOST + "the job is cleaned up\n" + _SLIP,
    ],
    ids=["ignored", "in the handling", "by its cause", "in the handling of a loss", "after a loss"],
)
def test_an_exception_that_did_not_end_the_program_is_no_mistake(slip: str) -> None:
    assert "kernel-mlx5-firmware" in causes(_HARD + slip)


@pytest.mark.parametrize(
    "slip",
    [
        _SLIP,
        _SLIP + _HANDLED + _SLIP.replace("board", "other"),
        _IGNORED + _SLIP.replace("board", "other") + "\n" + _SLIP,
        _SLIP + _BROKEN + _LOST,
        "".join(f"[rank0]: {line}\n" for line in (_BROKEN + _LOST).splitlines()) + _MISTAKE,
    ],
    ids=["alone", "the first of two", "besides one that is ignored", "before a loss", "while another rank reports one"],
)
def test_an_exception_that_ended_the_program_is_a_mistake(slip: str) -> None:
    assert "kernel-mlx5-firmware" not in causes(_HARD + slip)


_MISSPELT = (
    "It fails on two nodes.\n\nexport NCCL_SHM_DISABLED=1\n$ mpirun -np 16 -H n1:8,n2:8 ./all_reduce_perf -g 1\n"
)
_NO_SSH = "ssh: connect to host n2 port 22: Connection refused\n"
_NO_STORE = (
    "[W socket.cpp:601] [c10d] The client socket has failed to connect to [n1]:29500 "
    "(errno: 110 - Connection timed out).\n"
)
_IN_NCCL = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1275, unhandled system error, NCCL version 2.14.3\n"


@pytest.mark.parametrize(
    ("output", "role"),
    [(_NO_SSH, "risk"), (_NO_STORE, "risk"), ("", "cause"), (_IN_NCCL, "cause"), (_NO_STORE + _IN_NCCL, "cause")],
)
def test_a_variable_of_nccl_is_no_cause_of_an_end_before_nccl(output: str, role: str) -> None:
    assert {found.role for found in findings(_MISSPELT + output) if found.rule.name == "env-unknown-variable"} == {role}
