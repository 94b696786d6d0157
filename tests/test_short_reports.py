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


def test_the_same_message_in_an_example_of_a_document_claims_nothing() -> None:
    _, _, end = REPORTS["the end of a job of Slurm"].partition("2.88\n")
    example = f"## A job was killed\n\nIf a job needs too much memory, Slurm prints\n\n```\n{end}```\n\nAsk for more.\n"
    assert not claims(f"{example}\n{(FIXTURES / 'document' / 'runbook.md').read_text()}")
