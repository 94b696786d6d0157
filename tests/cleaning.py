"""What the tests of cleaning share: a paste, a key, and what cleaning must not change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ncdiag.apps.redact import Redactor
from ncdiag.report.model import Report

KEY = b"a key of sixteen"
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PASTE = """\
alice@gpu07:~$ ssh gpu08 lsmod
Module                  Size  Used by
nvidia_peermem         16384  0
gpu07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>
gpu08:733:733 [0] NCCL INFO Bootstrap : Using eth0:10.20.31.8<0>
srun -w gpu[07-08] --chdir /home/alice/run ./train
"""


def clean(text: str, *hosts: str) -> str:
    """The text with stand-ins; ``hosts`` are names of machines."""
    return Redactor(hosts, KEY).text(text)


def gist(report: Report) -> Any:  # noqa: ANN401
    """What must not change: the findings in order, how sure they are, and the structure of their fixes."""
    found = [
        (
            f.name, f.severity, f.confidence, f.nhosts, f.ranks, f.explained_by,
            [(x.kind, sorted(x.env), x.unset, sorted(x.commands), x.proof and x.proof.state) for x in f.fixes],
        )
        for f in report.findings
    ]  # fmt: skip
    asked = [(u.name, u.ask_for) for u in report.unknown]
    sections = [(s.kind, s.first_line, s.last_line) for i in report.inputs for s in i.sections]
    return report.summary.verdict, report.summary.root_cause, found, asked, sections


def shape(value: Any) -> Any:  # noqa: ANN401
    """Facts without their words: what there is, how much of it, and every number (large ones are handles)."""
    if isinstance(value, dict):
        left_out = {"provenance", "conflicts", "order"}
        return {name: shape(item) for name, item in sorted(value.items()) if name not in left_out}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "a word" if isinstance(value, str) or (isinstance(value, int) and value >> 48) else value
