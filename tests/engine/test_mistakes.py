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
