"""What is usual: one sentence that names a symptom and a machine gets the answers that an expert would give first."""

from __future__ import annotations

from pathlib import Path

from ncdiag import catalogue
from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

TABLE = Path(__file__).with_name("usual.txt")
FIRST, THREE = 0.68, 0.86
"""The least shares of rows whose first answer, or one of the first three, is right."""


def rows() -> list[tuple[str, frozenset[str]]]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if "=>" in line]
    return [(text.strip(), frozenset(names.split())) for text, _, names in (line.partition("=>") for line in lines)]


def test_a_symptom_and_a_machine_lead_to_what_is_usual() -> None:
    first, three, likely = [], [], []
    for text, names in rows():
        report = diagnose([TextSource.of_bytes("paste", text.encode())])
        first.append(bool(report.answers) and report.answers[0] in names)
        three.append(not names.isdisjoint(report.answers[:3]))
        likely += [
            text for suspect in report.suspects if suspect.likelihood == "very likely" and suspect.name not in names
        ]
    assert sum(first) >= FIRST * len(first)
    assert sum(three) >= THREE * len(three)
    assert len(likely) <= 1, likely


def test_the_rows_name_rules() -> None:
    known = {rule.name for rule in catalogue.rules()}
    assert {name for _, names in rows() for name in names} <= known


def test_what_is_only_usual_is_called_possible() -> None:
    text = "Training on both RTX A4500 freezes at the first step, one alone trains well.\n"
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    words = {suspect.name: suspect.likelihood for suspect in report.suspects}
    assert {words["pci-acs-enabled"], words["gdr-iommu-translation"]} <= {"possible", "unlikely"}
