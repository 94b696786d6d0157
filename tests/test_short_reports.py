"""A report of a few lines counts beside a long text that only mentions faults, above it and below it."""

from __future__ import annotations

import functools
import itertools
import pathlib

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures" / "mentioned"
CALM = [FIXTURES / name for name in ("source/watch.py", "document/runbook.md", "tests/pytest.txt", "source/retry.diff")]
SHARED_MEMORY = (
    "RuntimeError: DataLoader worker (pid 910) is killed by signal: Bus error. It is possible that dataloader's "
    "workers are out of shared memory. Please try to raise your shared memory limit.\n"
)
REPORTS = {
    "a complaint and a traceback": "Since the move to the new image the training in our container crashes early:\n\n"
    'Traceback (most recent call last):\n  File "/opt/app/fit.py", line 88, in <module>\n'
    '    for step, batch in enumerate(loader):\n  File "/opt/lib/torch/utils/data/dataloader.py", line 1133, in _get\n'
    "    raise RuntimeError(f'DataLoader worker exited unexpectedly') from e\n" + SHARED_MEMORY,
    "a complaint and a message": f"Fine-tuning in our container crashes since this morning:\n\n{SHARED_MEMORY}",
    "the end of a job of Slurm": "epoch 1 step 40 loss 2.91\nepoch 1 step 50 loss 2.88\n"
    "slurmstepd: error: Detected 2 oom_kill events in StepId=9120.0. Some of the step tasks have been OOM Killed.\n"
    "srun: error: node7: task 11: Out Of Memory\nsrun: Terminating StepId=9120.0\n",
    "two parts of a launcher in one minute": "rank 3 does not come up. Its log:\n\n"
    "[2026-03-02 10:41:07,310] torch.distributed.run: [WARNING] \n"
    "[W302 10:41:07.402 socket.cpp:697] [c10d] The IPv6 network addresses of (lead-0, 29500) cannot be retrieved "
    "(gai error: -2 - Name or service not known).\n"
    "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to "
    "(lead-0, 29500).\n",
}
BARE = (
    'Traceback (most recent call last):\n  File "/home/ida/fit/main.py", line 61, in <module>\n    run(cfg)\n'
    '  File "/home/ida/fit/main.py", line 44, in run\n    dist.init_process_group("nccl")\n'
    "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
    "port: 29533, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use\n"
)
REPORTS["a whole traceback"] = BARE
ABOUT = {
    "a tutorial": "# Your first job\n\nStart it with torchrun. If somebody else uses the port, you will see:\n\n{bare}",
    "a tutorial in a fence": "# Your first job\n\nStart it with torchrun.\n\n```\n{bare}```\n",
    "an unfinished sentence": "## Ports\n\nWhen the port of the rendezvous is taken, the job ends with\n\n{bare}",
    "a heading": "## Ports\n\nEach job needs its own port.\n\n### Address already in use\n\n{bare}",
    "a FAQ": "Q: What does this mean?\n\n{bare}\nA: Another job uses the port. Choose a different MASTER_PORT.\n\n"
    "Q: How many ports do I need?\n\nA: One for each job.\n",
    "a page that begins with it": "{bare}\nThis error means that another job uses the port. Choose another one.\n",
    "a changelog": "## 2.4.1\n\n- The launcher chooses another port if this was printed before:\n\n{bare}\n"
    "- The documentation has an index.\n",
    "a log of a test": "test_port (test_launch.Ports) ... expected failure\n\n{bare}\n"
    + "-" * 70
    + "\nRan 7 tests in 0.412s\n\nOK (expected failures=1)\n",
}
FORMS = {"below": "{calm}\n\n{report}", "above": "{report}\n\n{calm}"}


@functools.cache
def claims(text: str) -> tuple[str, ...]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    found = [found.name for found in report.findings if found.severity == "error" or found.role != "risk"]
    return (*found, *(each.name for each in report.suspects if each.likelihood in {"very likely", "likely"}))


@pytest.mark.parametrize(
    ("name", "path", "form"),
    list(itertools.product(REPORTS, CALM, FORMS)),
    ids=lambda value: getattr(value, "stem", value),
)
def test_a_short_report_beside_a_calm_text_is_claimed(name: str, path: pathlib.Path, form: str) -> None:
    alone, *_ = claims(REPORTS[name])
    assert alone in claims(FORMS[form].format(calm=path.read_text(), report=REPORTS[name]))


@pytest.mark.parametrize("text", ABOUT.values(), ids=ABOUT)
def test_a_traceback_that_a_text_shows_claims_nothing(text: str) -> None:
    handbook = (FIXTURES / "document" / "runbook.md").read_text()
    shown = text.format(bare=BARE)
    assert not claims(f"{shown}\n\n{handbook}" if shown.startswith("Trace") else f"{handbook}\n\n{shown}")


def test_the_same_message_in_an_example_of_a_document_claims_nothing() -> None:
    _, _, end = REPORTS["the end of a job of Slurm"].partition("2.88\n")
    example = f"## A job was killed\n\nIf a job needs too much memory, Slurm prints\n\n```\n{end}```\n\nAsk for more.\n"
    assert not claims(f"{example}\n{(FIXTURES / 'document' / 'runbook.md').read_text()}")
