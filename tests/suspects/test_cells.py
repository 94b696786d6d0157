"""Rules are scored by the cells that an input lights: failures fully, fields by half, and never against an answer."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.diagnose import diagnose, look
from ncdiag.suspects.cells import Lit, cells_of
from ncdiag.text import TextSource

LAUNCH = "torchrun --nnodes 2 train.py\n"


def lit(text: str) -> dict[str, Lit]:
    """What the input says of each rule, by name."""
    view, wording = look(text)
    names = {rule.code: rule.name for rule in catalogue.rules()}
    return {names[code]: found for code, found in cells_of(view, wording, catalogue.rules()).items()}


@pytest.mark.parametrize(
    ("line", "rule", "sentence"),
    [
        ("[ERROR] trainer: failed to modify QP to RTR: Invalid argument", "ib-modify-qp-einval",
         "the line says: modifying a queue pair, invalid"),
        ("[ERROR] engine: cuBLAS crashed with CUBLAS_STATUS_EXECUTION_FAILED", "cuda-library-crashes-on-model",
         "the line says: CUDA library,"),
        ("[ERROR] launcher: address already in use on master port 29500", "launcher-port-in-use",
         "the line says: TCP port, in use"),
    ],
)  # fmt: skip
def test_a_failure_lights_the_cells_of_its_rule(line: str, rule: str, sentence: str) -> None:
    found = lit(f"{LAUNCH}{line}\n")[rule]
    assert found.fails
    assert found.line is not None
    assert found.line.text == line
    assert found.sentence.startswith(sentence)


def test_a_sentence_counts_less_than_a_failure() -> None:
    said = lit("We see that the queue pair is exhausted on our machines.\n")["ib-create-qp-failed"]
    failed = lit("[ERROR] app: the queue pair is exhausted\n")["ib-create-qp-failed"]
    assert not said.fails
    assert 0 < said.score < failed.score


def test_a_whole_field_is_not_an_operation() -> None:
    found = lit("[ERROR] app: the GPU is slow\n")["gpu-copies-slow"]
    assert not found.fails


def test_an_object_alone_is_only_named() -> None:
    found = lit("We use Fabric Manager.\n")["nvlink-fabric-manager-down"]
    assert (found.cell, found.line, found.fails) == (None, None, False)
    assert "Fabric Manager" in found.sentence


@pytest.mark.parametrize(
    "line",
    [
        "n1:1:1 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
        "n1:1:1 [0] NCCL INFO Failed to open libibverbs.so[.1]",
        '  File "nccl_timeout.py", line 3, in store_timeout',
        "| GPU  Name  Persistence-M | fabric manager | not found |",
    ],
)
def test_lines_that_say_nothing_light_nothing(line: str) -> None:
    assert all(found.cell is None for found in lit(f"{LAUNCH}{line}\n").values())


def test_cells_do_not_make_a_suspect_likely() -> None:
    line = "[ERROR] app: the memory region of the transport is corrupted\n"
    report = diagnose([TextSource.of_bytes("paste", line.encode())])
    assert all(found.likelihood in {"possible", "unlikely"} for found in report.suspects)


def test_a_failure_without_a_rule_leads_with_object_and_reason() -> None:
    line = "[ERROR] trainer: the LDAP queue pair of the frobnicator is exhausted\n"
    report = diagnose([TextSource.of_bytes("paste", line.encode())])
    (title,) = [found.title for found in report.findings if found.name == "failure-reported"]
    assert title.startswith("A program reports a failure: queue pair, exhausted or too small")


def test_a_bug_costs_only_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("ncdiag.base.errors.strict", False)
    monkeypatch.setattr("ncdiag.suspects.weigh.cells_of", broken)
    report = diagnose([TextSource.of_bytes("paste", b"[ERROR] app: NVLink is down\n")])
    assert any("cells of the input" in fault for fault in report.faults)
