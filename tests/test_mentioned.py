"""Texts in which no job failed name the messages of failures: ``fixtures/mentioned/<kind>/*``, written for this test.

Nothing in them is claimed, while the log of a real run is judged as if it were alone, wherever it is pasted.
"""

from __future__ import annotations

import functools
import itertools
import pathlib

import msgspec
import pytest

from ncdiag.diagnose import DEFAULTS, diagnose
from ncdiag.formats.blocks.kinds import mentioned
from ncdiag.report.model import Report
from ncdiag.text import TextSource

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
TEXTS = sorted((FIXTURES / "mentioned").glob("*/*"))
KINDS = {
    "source": "source code", "document": "a document", "faq": "questions and answers", "changelog": "a changelog",
    "commits": "messages of commits", "chat": "a chat about the past", "tests": "the log of tests that passed",
    "host": "the log of another system", "quoted": "quotations of others", "quotation": "a quotation",
    "ticket": "a list of closed tickets", "review": "a review of code",
    "over": "a report on what is over", "minutes": "the minutes of a meeting",
    "collection": "a collection of messages", "shown": "what a command shows of a file",
}  # fmt: skip
JUDGED_BY_PLACE = {"tests", "host", "collection", "shown"}
"""Kinds whose other parts are mentioned, too, where somebody reports a trouble beside one."""
LOGS = [
    FIXTURES / "cases" / "veth" / "nccl.log",
    *(FIXTURES / "cases" / name / "paste.txt" for name in ("memlock-64k", "ib-port-init", "roce-gid-3-old", "shm-64m")),
]
RUNS = {
    "below": "{text}\n\n{log}",
    "above": "{log}\n\n{text}",
    "in a code block below": "{text}\n\n```\n{log}\n```\n",
    "below what its owner writes": "{text}\n\n\nSince yesterday my own job stops, and I do not know why:\n\n{log}",
}


def judged(text: str, language: str = "en") -> Report:
    return diagnose([TextSource.of_bytes("paste", text.encode())], msgspec.structs.replace(DEFAULTS, language=language))


def claims(report: Report) -> list[str]:
    """The names of the failures and causes that a report claims."""
    found = [found.name for found in report.findings if found.severity == "error" or found.role != "risk"]
    return found + [suspect.name for suspect in report.suspects if suspect.likelihood in {"very likely", "likely"}]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_text_without_a_job_claims_nothing(path: pathlib.Path) -> None:
    report = judged(path.read_text())
    assert not claims(report)
    assert report.summary.verdict in {"healthy-as-far-as-seen", "risk-only"}
    notes = [note for item in report.inputs for note in item.notes]
    assert any(f"only mentioned in {KINDS[path.parent.name]}" in note for note in notes), notes


@pytest.mark.parametrize(
    ("path", "log", "form"),
    [
        (path, log, form)
        for (path, form), log in zip(itertools.product(TEXTS, RUNS), itertools.cycle(LOGS), strict=False)
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.parent.name}-{value.stem}",
)
def test_a_run_beside_such_a_text_is_judged_as_if_alone(path: pathlib.Path, log: pathlib.Path, form: str) -> None:
    run = log.read_text().rstrip("\n")
    together = judged(RUNS[form].format(text=path.read_text(), log=run))
    assert together.answers[:1] == first_answer_alone(run) != ()


@pytest.mark.parametrize("mark", ["#", "//", "--", ";", "'", "  //"])
@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.parent.name)
def test_a_run_in_a_comment_is_judged_as_if_alone(log: pathlib.Path, mark: str) -> None:
    run = log.read_text().rstrip("\n")
    comment = "\n".join(f"{mark} {line}".rstrip() for line in run.split("\n"))
    text = (FIXTURES / "mentioned" / "source" / "watch.py").read_text()
    assert judged(f"{text}\n\n{comment}\n\nlimit = 3\n").answers[:1] == first_answer_alone(run) != ()


@functools.cache
def first_answer_alone(run: str) -> tuple[str, ...]:
    return judged(run).answers[:1]


@pytest.mark.parametrize("path", [path for path in TEXTS if path.parent.name not in JUDGED_BY_PLACE], ids=str)
def test_nothing_is_only_mentioned_where_somebody_reports_a_trouble(path: pathlib.Path) -> None:
    report = "Since yesterday my own job stops with this as well, and I do not know why."
    lines = path.read_text().split("\n")
    every = range(len(lines))
    assert mentioned(lines, every)
    assert not mentioned([*lines, "", report], every)


def test_the_note_is_translated() -> None:
    report = judged((FIXTURES / "mentioned" / "changelog" / "news.rst").read_text(), "zh")
    assert [note for item in report.inputs for note in item.notes] == ["第 1-15 行：只在变更日志中提及，不计为故障"]


REPORTS = {
    "a line alone": "NCCL WARN Cuda failure 'out of memory'",
    "after a title": "Qwen on two nodes: NCCL WARN Cuda failure 'out of memory'",
    "in the words of a person": "training stops and we get `NCCL WARN Cuda failure 'out of memory'` after an hour",
    "in a sentence that says it fails": "it fails with `NCCL WARN Cuda failure 'out of memory'` after an hour",
    "of a structured log": 'time="2026-11-03T10:00:00Z" level=error msg="NCCL WARN Cuda failure \'out of memory\'"',
    "behind a bar of progress": " 40%|# | 4/10 [00:01<00:02][rank0]:[E x.cpp:1] NCCL WARN Cuda failure 'out of memory'",
    "a row of a table in CSV": '1,"gpu7","NCCL WARN Cuda failure \'out of memory\'"\n2,"gpu7","other line"',
    "a printed list": "Result: [\"NCCL WARN Cuda failure 'out of memory'\", 1]",
    "an export with a heading": "message,host,name\nNCCL WARN Cuda failure 'out of memory',gpu7,train",
    "below the state of a job": "JobId=7 JobName=x\nState: COMPLETED\nNCCL WARN Cuda failure 'out of memory'",
    "a raw line below a closed ticket": "Status: closed\nNCCL WARN Cuda failure 'out of memory'",
    "a sentence below one heading": "# gpu7\nafter the reboot there is `NCCL WARN Cuda failure 'out of memory'`",
    "the value of an item": "- two hosts, H100\n- last line: `NCCL WARN Cuda failure 'out of memory'`\n- NCCL 2.21",
    "in the status of a pod": "    message: \"NCCL WARN Cuda failure 'out of memory'\"",
}


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
def test_a_message_that_somebody_reports_is_no_quotation(text: str) -> None:
    assert "cuda-out-of-memory" in claims(judged(f"{text}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "mpirun noticed that process rank 3 with PID 77 on node n1 exited on signal 11 (Segmentation fault).",
        "Primary job  terminated normally, but 1 process returned a non-zero exit code.",
    ],
)
def test_a_sentence_of_a_program_reports(line: str) -> None:
    assert claims(judged(f"{line}\n"))


@pytest.mark.parametrize("path", sorted((FIXTURES / "reported").iterdir()), ids=lambda path: path.stem)
def test_a_trouble_that_goes_on_is_claimed_whatever_was_done(path: pathlib.Path) -> None:
    assert claims(judged(path.read_text()))


TERSE = {
    "a list": 'Slurm job 4471 ends on its own.\n\n* image: 24.07\n* stderr ends with "{}"\n* other jobs are fine',
    "a contrast": "What works: single node. What does not: two nodes, `{}`",
    "an aside": "Torchrun on two machines, message `{}`. Single machine OK.",
}


@pytest.mark.parametrize("form", TERSE.values(), ids=TERSE)
def test_a_person_who_writes_to_the_point_reports(form: str) -> None:
    assert claims(judged(form.format("NCCL WARN Cuda failure 'out of memory'") + "\n"))
