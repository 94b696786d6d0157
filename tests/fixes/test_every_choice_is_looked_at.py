"""A fix that sets what NCCL chooses by is simulated on its rule's examples; what was refuted is not offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ncdiag.diagnose import Options, diagnose
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.schema import Rule
from ncdiag.fixes.prove import simulated
from ncdiag.sources.files import TextSource

CHOOSES = re.compile(
    r"NCCL_(?:SOCKET_(?:IFNAME|FAMILY)|COMM_ID|NET|NET_GDR_LEVEL|IB_(?:HCA|DISABLE|GID_INDEX|ADDR_\w+|ROCE_\w+))"
)
RULES = {
    rule.name: rule
    for rule in map(load_file, rule_files(Path(__file__).parents[2] / "rules"))
    if any(CHOOSES.fullmatch(name) for fix in rule.fixes for name in (*fix.env, *fix.unset))
}


def text_of(rule: Rule, example: int) -> bytes:
    """The example as one paste."""
    given = rule.examples[example]
    heading = f"=== {given.host} ===\n" if given.host else ""
    texts = [text.strip("\n") for found in given.sections.values() for text in found]
    return (heading + "\n".join(texts) + "\n").encode()


def test_there_are_such_rules() -> None:
    assert len(RULES) > 5


@pytest.mark.parametrize("name", sorted(RULES))
def test_no_fix_is_offered_unproved(name: str) -> None:
    rule = RULES[name]
    fired = [number for number, example in enumerate(rule.examples) if example.outcome == "fired"]
    assert fired
    for number in fired:
        source = TextSource.of_bytes("example", text_of(rule, number))
        for finding in diagnose([source], Options(select=(name,))).findings:
            for fix in finding.fixes:
                names = {n for n in (*fix.env, *fix.unset) if CHOOSES.fullmatch(n)}
                assert names <= simulated()
                if names and None not in fix.env.values():
                    assert fix.proof is not None
                    assert fix.proof.state in {"proved", "not-simulated"}
                    assert not re.search(rf"the effect of .*(?:{'|'.join(names)}).* is not simulated", fix.proof.text)
