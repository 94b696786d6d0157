"""A fix that sets what NCCL chooses by is simulated on its rule's examples; what was refuted is not offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from book import swept_files

from ncdiag import catalogue
from ncdiag.engine.causes import conclude
from ncdiag.engine.evaluate import judge
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.schema import Example, Rule
from ncdiag.engine.scope import Names
from ncdiag.facts.view import View
from ncdiag.fixes.prove import simulated
from ncdiag.fixes.values import Values
from ncdiag.nccl import environment
from ncdiag.report import build
from ncdiag.report.model import Finding, Fix
from ncdiag.text.reading.job import facts_of

RULES = Path(__file__).parents[2] / "rules"
CHOOSES = re.compile(
    r"NCCL_(?:SOCKET_(?:IFNAME|FAMILY)|COMM_ID|OOB_NET_\w+|NET|NET_PLUGIN|NET_GDR_\w+|DMABUF_ENABLE|CROSS_NIC|"
    r"IB_(?:HCA|DISABLE|GID_INDEX|ADDR_\w+|ROCE_\w+|ROUTABLE_\w+|MERGE_NICS)|NET_(?:FORCE_MERGE|MERGE_LEVEL))"
)
"""Variables by which NCCL chooses interface, device, GID entry, GPUDirect RDMA or network."""
FILES = rule_files(RULES)


def findings(rule: Rule, example: Example) -> tuple[Finding, ...]:
    """What the report says when this rule alone is judged on its example."""
    view = View(facts_of(example.sections, example.host), environment.resolve_fields)
    values = Values(view)
    diagnosis = conclude(judge([rule], view, values), view, understood=True)
    return build.report(diagnosis, (), view, values, build.Read((), frozenset(), ())).findings


def test_there_are_such_rules() -> None:
    fixes = re.compile(rf"^(?:env|unset) = .*{CHOOSES.pattern}\b", re.MULTILINE)
    assert sum(fixes.search(path.read_text("utf-8")) is not None for path in FILES) > 5


@pytest.fixture(scope="module")
def names() -> Names:
    return catalogue.names()


@pytest.mark.sweep
@pytest.mark.parametrize("path", swept_files(), ids=lambda path: path.stem)
def test_no_fix_is_offered_unproved(path: Path, names: Names) -> None:
    rule = load_file(path, names)
    for example in rule.examples:
        for finding in findings(rule, example):
            for fix in finding.fixes:
                check(fix)


def check(fix: Fix) -> None:
    """What the proof of an offered fix may say."""
    names = {n for n in (*fix.env, *fix.unset) if CHOOSES.fullmatch(n)}
    assert fix.proof is not None
    assert fix.proof.state in {"proved", "not-simulated"}
    assert names <= simulated(), "prove.py does not look at it"
    if fix.proof.state == "not-simulated":
        assert fix.proof.text
    if None not in fix.env.values():
        assert not re.search(rf"the effect of .*(?:{'|'.join(names) or '^$'}).* is not simulated", fix.proof.text)
