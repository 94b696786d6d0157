"""A fix that sets what NCCL chooses by is simulated on its rule's examples; what was refuted is not offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ncdiag import catalogue
from ncdiag.engine.causes import conclude
from ncdiag.engine.evaluate import judge
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.schema import Example, Rule
from ncdiag.facts.view import View
from ncdiag.fixes.prove import simulated
from ncdiag.fixes.values import Values
from ncdiag.nccl import environment
from ncdiag.read import facts_of
from ncdiag.report import build
from ncdiag.report.model import Finding

CHOOSES = re.compile(
    r"NCCL_(?:SOCKET_(?:IFNAME|FAMILY)|COMM_ID|NET|NET_GDR_LEVEL|IB_(?:HCA|DISABLE|GID_INDEX|ADDR_\w+|ROCE_\w+))"
)
FIXES = re.compile(rf"^(?:env|unset) = .*{CHOOSES.pattern}\b", re.MULTILINE)
FILES = [path for path in rule_files(Path(__file__).parents[2] / "rules") if FIXES.search(path.read_text("utf-8"))]


def findings(rule: Rule, example: Example) -> tuple[Finding, ...]:
    """What the report says when this rule alone is judged on its example."""
    view = View(facts_of(example.sections, example.host), environment.resolve_fields)
    values = Values(view)
    diagnosis = conclude(judge([rule], view, values), view, understood=True)
    return build.report(diagnosis, view, values, build.Read((), frozenset(), ())).findings


def test_there_are_such_rules() -> None:
    assert len(FILES) > 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_fix_is_offered_unproved(path: Path) -> None:
    rule = load_file(path, catalogue.names())
    fired = [example for example in rule.examples if example.outcome == "fired"]
    assert fired
    for example in fired:
        found = findings(rule, example)
        assert found
        for finding in found:
            for fix in finding.fixes:
                names = {n for n in (*fix.env, *fix.unset) if CHOOSES.fullmatch(n)}
                assert names <= simulated()
                if names and None not in fix.env.values():
                    assert fix.proof is not None
                    assert fix.proof.state in {"proved", "not-simulated"}
                    assert not re.search(rf"the effect of .*(?:{'|'.join(names)}).* is not simulated", fix.proof.text)
