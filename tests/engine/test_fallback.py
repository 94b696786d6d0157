"""What no finding rests on becomes one itself."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

CONNECT = "n1:40:51 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : {}\n"


def lines_of(text: str, rule: str) -> set[int]:
    """The lines on which the findings of a rule rest."""
    report = diagnose([TextSource.of_bytes("log", text.encode())])
    return {item.line for finding in report.findings if finding.name == rule for item in finding.evidence}


def test_another_reason_is_another_failure() -> None:
    text = (
        CONNECT.format("Connection refused") + CONNECT.format("Invalid argument") + CONNECT.format("Connection refused")
    )
    assert lines_of(text, "socket-connection-refused") >= {1}
    assert lines_of(text, "failure-reported") == {2}


@pytest.mark.parametrize("level", ["ERROR", "CRITICAL"])
def test_a_line_of_a_logger_counts_by_its_level(level: str) -> None:
    text = f"{level} 07-14 10:11:12 [engine/core.py:318] the engine could not be started\n"
    assert lines_of(text, "failure-reported") == {1}
