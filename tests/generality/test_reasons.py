"""Whatever reason the system gives for a failed call: the report answers, and names the reason where it is a known one.

Every errno of the C library with two classes of calls, and each class with a third of them, as NCCL prints it.
"""

from __future__ import annotations

import pytest
from judged import findings
from tenth import tenth

from ncdiag.nccl import reasons

CALLS = {
    "connect": "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : {}",
    "receive": "misc/socket.cc:50 NCCL WARN Net : Call to recv from 10.1.2.4<40815> failed : {}",
    "bind": "misc/socket.cc:381 NCCL WARN Call to bind failed : {}",
    "shared memory": "misc/shmutils.cc:72 NCCL WARN Call to shm_open failed : {}",
    "queue pair": "misc/ibvwrap.cc:200 NCCL WARN Call to ibv_modify_qp failed with error {}",
    "registration": "misc/ibvwrap.cc:160 NCCL WARN Call to ibv_reg_mr failed with error {}",
}  # fmt: skip


def errnos() -> dict[str, reasons.Reason]:
    """What the C library of Linux calls each errno in English, by name."""
    known = reasons.errors()
    return {text: found for text, found in known.texts.items() if text.isascii() and found.name}


SHARE = 3


@pytest.mark.sweep
@pytest.mark.parametrize("call", CALLS)
def test_every_reason_of_a_call_is_answered(call: str) -> None:
    silent = []
    texts = list(errnos())[list(CALLS).index(call) % SHARE :: SHARE]
    for text in tenth(texts, lambda text: f"{call}/{text}"):
        line = f"n1:4127:4160 [0] {CALLS[call].format(text.capitalize())}\n"
        found = findings(line + "n1:4127:4160 [0] NCCL INFO init.cc:352 -> 2\n")
        rests = [finding for finding in found if any(span.line == 1 for span in finding.evidence)]
        silent += [] if rests and rests[0].severity != "info" else [text]
    assert silent == []
