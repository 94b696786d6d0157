"""What holds of all signs of the book."""

from __future__ import annotations

from ncdiag import catalogue
from ncdiag.diagnose import diagnose
from ncdiag.sources.files import TextSource


def test_a_suspect_is_reported_with_its_signs_and_fixes() -> None:
    text = "train.py: error: unrecognized arguments: --local-rank=1\nI start with python -m torch.distributed.launch\n"
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    suspect = report.suspects[0]
    assert (suspect.name, suspect.likelihood) == ("launcher-local-rank-argument", "very likely")
    assert [(item.line, item.text) for item in suspect.supporting[0].evidence] == [(1, text.splitlines()[0])]
    assert suspect.fixes
    assert report.answers[0] == suspect.name


def test_suspects_have_plain_sentences() -> None:
    wrong = [
        rule.name for rule in catalogue.rules() if rule.suspect
        for text in (rule.suspect.text, *(sign.text for sign in rule.signs)) if "{" in text or text.endswith(".")
    ]  # fmt: skip
    assert wrong == []
