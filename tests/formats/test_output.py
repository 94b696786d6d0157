"""A message at the end of a program's output counts, whatever the program prints; one in a long document does not."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.formats.blocks.output import beside, printed_runs
from ncdiag.text import TextSource

STEPS = {
    "records": "{{'loss': 2.{n}, 'grad_norm': 1.{n}, 'learning_rate': 2e-05, 'epoch': 0.{n}}}",
    "epochs": "Epoch 1: loss=0.{n} acc=0.{n}",
    "bars": "train:  {n}%|####      | {n}/100 [00:{n}<01:00,  1.{n}it/s]",
    "iterations": " iteration {n}/ 5000 | elapsed time per iteration (ms): 9{n}.1 | loss: 2.{n}",
    "stamped": "2026-03-04 05:06:{n} step {n} of 90 loss 2.{n}",
    "bare": "{n} 2.{n} 0.{n}",
}
FATAL = {
    "transfer": "n1:100:140 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.1.2.9<1> with "
    "error 12, opcode 0, len 0, vendor err 129",
    "exception": "RuntimeError: NCCL error: unhandled system error",
    "memory": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "signal": "mpirun noticed that process rank 3 with PID 4711 on node n2 exited on signal 9 (Killed).",
    "xid": "NVRM: Xid (PCI:0000:5e:00): 79, pid=4711, GPU has fallen off the bus.",
    "crash": "Segmentation fault (core dumped)",
    "killed": "Killed",
}
DOCUMENT = """
Messages of the fabric

This page lists messages that operators meet, and what they mean.

The first group comes from transfers.
A peer that does not answer ends with a completion error.
It is printed on the sending side.

Segmentation fault (core dumped)

The second group comes from the shell.
It prints the end of a program.
Nothing else is known then.
Read the log of the program first.
The core file has the stack.

The third group comes from the kernel.
It names the device.
The number tells the class.
The manual lists all of them.
Some need a restart of the host.
Others are reported once.
They can be ignored.
The last ones come from the scheduler.
It ends what exceeds a limit.
It names the limit.
"""


def claims(text: str) -> bool:
    report = diagnose([TextSource.of_bytes("job.log", text.encode())])
    return any(found.severity == "error" for found in report.findings)


@pytest.mark.parametrize("fatal", FATAL)
@pytest.mark.parametrize("steps", STEPS)
def test_a_fatal_line_below_the_steps_of_a_job_is_a_failure(steps: str, fatal: str) -> None:
    lines = [STEPS[steps].format(n=n) for n in range(11, 51)]
    assert not claims("\n".join(lines) + "\n")
    assert claims("\n".join([*lines, FATAL[fatal]]) + "\n")


@pytest.mark.parametrize("fatal", FATAL)
def test_so_it_is_between_them_and_below_an_empty_line(fatal: str) -> None:
    lines = [STEPS["records"].format(n=n) for n in range(11, 51)]
    assert claims("\n".join([*lines, "", FATAL[fatal], "", "run.sh: line 4: leaving"]) + "\n")


def test_a_message_in_a_long_document_is_none() -> None:
    assert not claims(DOCUMENT)


def test_a_run_is_of_lines_that_differ_in_numbers_alone() -> None:
    lines = ["step 1", "step 2", "", "step 3", "one", "step 4", "step 5", "no number", "no number", "no number"]
    assert printed_runs(lines) == {0, 1, 3}
    assert 4 in beside([*lines[:4], "Killed"], {0, 1, 3})
    assert 5 not in beside([*lines[:4], "We saw this in the manual of the system.", "Killed"], {0, 1, 3})
