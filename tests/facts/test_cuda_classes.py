"""The errors of CUDA as rules see them: none of NCCL's is left to the rule that knows no more than a code."""

from __future__ import annotations

from pathlib import Path

import ncdiag.nccl
from ncdiag.base import toml
from ncdiag.catalogue import rules
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.cuda_errors import cuda_class, is_known_cuda_failure

TABLE = Path(ncdiag.nccl.__file__).parent / "cuda.toml"
_PROFILER = range(5, 9)
"""Errors of cudaProfilerStart, which NCCL does not call."""
ERRORS = {
    int(number): text
    for number, (_, text) in toml.loads(TABLE.read_text(encoding="utf-8"))["error"].items()
    if int(number) not in _PROFILER
}


def failure(number: int, text: str, file: str = "enqueue.cc") -> tuple[Event, View]:
    fields: dict[str, int | float | str | None] = {"cuda_code": number, "cuda_error": text}
    event = Event(
        event="cuda-failure", origin="nccl", kind="symptom", level="WARN", file=file, fields=fields,
        text=f"Cuda failure {number} '{text}'",
    )  # fmt: skip
    return event, View(Job(events=(event,)))


def test_every_error_is_known_to_a_rule() -> None:
    assert [number for number, text in ERRORS.items() if not is_known_cuda_failure(*failure(number, text))] == []


def test_every_class_is_named_by_a_rule() -> None:
    classes = {cuda_class(*failure(number, text)) for number, text in ERRORS.items()} - {""}
    asked = " ".join(clause for rule in rules() for clause in rule.when if "cuda_class" in clause)
    assert [name for name in classes if f'"{name}"' not in asked] == []


def test_where_nccl_called_tells_more_than_the_class_of_a_call() -> None:
    assert cuda_class(*failure(1, "invalid argument")) == "invalid-argument"
    assert cuda_class(*failure(1, "invalid argument", "transport/p2p.cc")) == ""
    assert cuda_class(*failure(1, "invalid argument", "transport/nvls.cc")) == ""
    assert cuda_class(*failure(900, ERRORS[900], "transport/p2p.cc")) == "capture-misused"
