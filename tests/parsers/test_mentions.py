"""What speaks of a message is no event; what reports it is one, quoted or not."""

from __future__ import annotations

import pytest

from ncdiag.formats.mentions import is_mention
from ncdiag.parsers._events import find

MENTIONED = [
    'this is NOT the "Duplicate GPU detected : rank 2 and rank 3 both on CUDA device 65000" problem',
    'we no longer see "socketStartConnect: Connect to 10.1.1.5<40000> failed : Connection refused"',
    "it isn't the known \u201cCall to ibv_reg_mr failed\u201d",
    "* No `GPU has fallen off the bus`",
    "- no `Out of memory: Killed process 5 (python)` in dmesg",
    "2) There is no 'Connection refused' on any node",
    "No Xid 79, no segfault at 0 and no Out of memory: Killed process",
    "dmesg is clean: no NVRM: Xid (PCI:0000:17:00): 79, no oom-killer",
    'grep -rn "Call to ibv_reg_mr failed" logs/',
    "root@n1:~# dmesg | grep -i 'NVRM: Xid'",
    'The docs say: "Error: failed to extend /dev/shm/nccl-AbCdEf to 4096 bytes" when /dev/shm is small',
    '"Call to ibv_reg_mr failed" usually means that memlock is low',
    '"Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000" is gone now',
    'WARN("Duplicate GPU detected : rank %d and rank %d both on CUDA device %lx", a, b, c);',
    '    WARN("Call to ibv_reg_mr failed");',
    "logger.error('Call to ibv_reg_mr failed')",
    "// socketStartConnect: Connect to %s failed : %s",
]
REPORTED = [
    'it prints "Call to ibv_reg_mr failed" and stops',
    'crashes with "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 65000"',
    'it does not work: "socketStartConnect: Connect to 10.1.1.5<40000> failed : Connection refused"',
    "NCCL WARN Error: failed to extend /dev/shm/nccl-AbCdEf to 4096 bytes",
    "* GPU 3: `NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.`",
    "- Call to ibv_reg_mr failed, no idea why",
    "node7 ends with `Call to ibv_reg_mr failed`, a reboot did not help",
]


PRINTED = [
    "ImportError: could not find 'libnccl.so.2'",
    'ERROR: did not find "NCCL" in the build',
    'RuntimeError: no "nccl" backend is registered',
    "torch.distributed could not find the 'gloo' device",
    "could not get 'rank 3' to answer: Connection refused",
    "[rank3]: the store is not 'ready' yet",
    "cannot open 'https://n1/a%2fb', the connection was refused",
    "RuntimeError: this is not a 'regular' tensor",
    "net_plugin.cc:31 the device is not 'mlx5_0'",
    "there is no 'ib0' on this host",
    "connect to 10.1.1.5 port 22: No route to host",
    "- No CUDA GPUs are available",
    "NET/IB : No device found.",
    "HINT: run it without '--net host'",
]
"""What programs say of something quoted that is not there."""


@pytest.mark.parametrize("line", PRINTED)
def test_what_a_program_does_not_find_is_no_mention(line: str) -> None:
    assert not is_mention(line)


@pytest.mark.parametrize("line", MENTIONED)
def test_a_mention_is_no_event(line: str) -> None:
    assert is_mention(line)
    assert find(line) == []


@pytest.mark.parametrize("line", REPORTED)
def test_a_report_is_an_event(line: str) -> None:
    assert not is_mention(line)
    assert find(line) != []
