"""The log of a trouble that its writer has overcome is mentioned, however it is shown; what is there now is judged."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import DEFAULTS, diagnose
from ncdiag.text import TextSource

FAILED = """\
n2:44:52 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.17.0.1<40815> failed : Connection refused
n2:44:52 [0] NCCL INFO misc/socket.cc:567 -> 2"""
GOOD = """\
n1:40:51 [0] NCCL INFO comm 0x55d0c0 rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x8d1 - Init COMPLETE
n2:45:52 [0] NCCL INFO comm 0x55d0c1 rank 1 nranks 2 cudaDev 0 busId 1b000 commId 0x8d1 - Init COMPLETE"""
SHOWN = {
    "quoted": "".join(f"> {line}\n" for line in FAILED.split("\n")),
    "in a code block": f"```\n{FAILED}\n```\n",
    "in a code block with text on its first line": f"```{FAILED}\n```\n",
    "as a paragraph": f"{FAILED}\n",
}
OVER = {
    "then it works": "We had this:\n\n{log}\nAfter setting NCCL_SOCKET_IFNAME=eth0 it works.\n",
    "then a good log": f"We had this:\n\n{{log}}\nAfter the new setting it works, here is the log now:\n\n{GOOD}\n",
    "then solved": "The job stopped with\n\n{log}\nIt is solved: NCCL took the bridge of Docker.\n",
    "in a word": "The old log:\n\n{log}\nsolved\n",
    "solved above": "Resolved, thanks. The error was:\n\n{log}",
    "German": "Das Problem war:\n\n{log}\nSeit dem Update läuft alles wieder.\n",
    "Chinese": "之前报错：\n\n{log}\n设置 NCCL_SOCKET_IFNAME 之后已经解决。\n",
    "after a restart": "Yesterday we got this:\n\n{log}\nSince the restart of the node it works again.\n",
}
NOW = {
    "until yesterday": "It worked until yesterday, now:\n\n{log}",
    "but still": "We fixed the firewall, but still:\n\n{log}",
    "another error": "Solved by a new driver, but now another error:\n\n{log}",
    "another error, below": "We had a firewall problem, it is solved. Here is the log now:\n\n{log}",
    "not solved": "We had this:\n\n{log}\nThe setting did not solve it.\n",
    "a question": "We had this:\n\n{log}\nAfter a restart it works. Why?\n",
    "a part works": "Two nodes stopped with\n\n{log}\nA single node works now.\n",
    "a fixed defect": "The job stopped with\n\n{log}\nA defect like this was fixed in version 2.19.\n",
    "a condition": "The job stopped with\n\n{log}\nIt would be solved if we left Docker.\n",
    "not introduced": "{log}\nThe other problem is solved.\n",
    "later": "The firewall is solved. Since the update we had this:\n\n{log}",
    "for a time": "We had this:\n\n{log}\nAfter a restart it works for an hour.\n",
    "fails elsewhere": "We had this:\n\n{log}\nOn the old hosts it is solved. On the rest it hangs.\n",
    "another one is solved": "We had this:\n\n{log}\nThe IB problem is resolved.\nThe socket error remains.\n",
    "the cause is asked for": "We had this:\n\n{log}\nIt works again after a restart. Please find the cause.\n",
    "German": "Das alte Problem ist gelöst. Jetzt kommt:\n\n{log}",
    "Chinese": "之前的问题已经解决，现在又报错：\n\n{log}",
}


def failures(text: str) -> list[str]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())], DEFAULTS)
    return [found.name for found in report.findings if found.severity == "error"]


@pytest.mark.parametrize("log", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("text", OVER.values(), ids=OVER)
def test_what_is_over_is_no_failure(text: str, log: str) -> None:
    assert not failures(text.format(log=log))


@pytest.mark.parametrize("log", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("text", NOW.values(), ids=NOW)
def test_what_goes_on_is_one(text: str, log: str) -> None:
    assert failures(text.format(log=log))


def test_what_failed_after_it_is_one() -> None:
    text = OVER["then a good log"].format(log=SHOWN["quoted"])
    assert failures(f"{text}RuntimeError: CUDA error: out of memory\n") == ["cuda-out-of-memory"]
