"""Elements that a condition cannot be about are not asked; the verdicts are those of asking each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from ncdiag import catalogue
from ncdiag.engine import walk
from ncdiag.engine.evaluate import judge
from ncdiag.engine.load import load_text
from ncdiag.engine.results import Verdict
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Job, Setting
from ncdiag.facts.view import View
from ncdiag.nccl.environment import resolve_fields
from ncdiag.nccl.judgement.names import of_name
from ncdiag.nccl.spelling import distance

RULE = """
code = "NCD901"
name = "narrow"
area = "env"
severity = "warning"
role = "cause"
layer = 50
title = "{{s.name}} is {{s.text}}"
each = {{ s = "job.settings" }}
when = ['{}']
why = "A reason."
"""
SET = {
    "NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket", "NCCL_P2P_LEVEL": "LOC", "NCCL_NET_GDR_LEVEL": "3",
    "NCCL_IB_TIMEOUT": "2", "NCCL_DEBUG_FILE": "/scratch/x", "NCCL_PROTO": "LL128", "NCCL_IB_HCA": ":1",
    "NCCL_SOCKET_IFNAME": "eth0,^ib0", "CUDA_VISIBLE_DEVICES": "none", "NCCL_DEBUG": "TRACE",
}  # fmt: skip


def setting(name: str, text: str | None) -> Setting:
    return msgspec.structs.replace(Setting(name=name, text=text, is_set=True), **resolve_fields(name, text, None))


def job(size: int) -> Job:
    """A job with settings that rules are about, between many of a user's own program."""
    own = [setting(f"MY_BATCH_{number}", str(number)) for number in range(size)]
    return Job(settings=(*own[: size // 2], *(setting(*each) for each in SET.items()), *own[size // 2 :]))


def seen(verdicts: Iterable[Verdict]) -> list[Any]:
    return [(v.rule.name, v.outcome, [f.title for f in v.findings], v.open_clauses, v.missing) for v in verdicts]


def evaluations(of: Rule, size: int) -> int:
    """The number of settings for which a rule's condition is evaluated, apart from those read again as evidence."""
    assert of.program is not None
    (test,) = of.program.tests
    count = 0

    def counted(frame: Any) -> Any:  # noqa: ANN401
        nonlocal count
        count += frame.reads is None
        return test(frame)

    of.program.__dict__["tests"] = (counted,)
    judge([of], View(job(size)))
    return count


def test_verdicts_are_those_of_asking_each(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = catalogue.rules(())
    narrowed = seen(judge(rules, View(job(100), resolve_fields)))
    monkeypatch.setattr(walk, "FEW", 1000)
    each = seen(judge(rules, View(job(100), resolve_fields)))
    assert narrowed == each
    assert len([name for name, outcome, *_ in each if outcome == "fired"]) > len(SET) / 2


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ('s.name == "NCCL_NET"', 1),
        ('s.name in ["NCCL_NET", "NCCL_PROTO"]', 2),
        ('s.name == "NCCL_NET" or s.name == "NCCL_PROTO"', 2),
        ("s.is_shared_file", 1),
        ("s.p2p_is_disabled and s.number == 1", 1),
    ],
)
def test_only_settings_that_a_condition_can_be_about_are_asked(condition: str, asked: int) -> None:
    assert evaluations(load_text(RULE.format(condition)), 50) == asked
    assert evaluations(load_text(RULE.format(condition)), 400) == asked


@pytest.mark.parametrize(
    "condition", ["s.number == 1", 's.name != "NCCL_NET"', 's.name == "NCCL_NET" or s.number == 1']
)
def test_other_conditions_ask_each(condition: str) -> None:
    assert evaluations(load_text(RULE.format(condition)), 50) == 50 + len(SET)


def test_an_unknown_field_is_asked() -> None:
    several = tuple(setting(f"MY_BATCH_{number}", "x") for number in range(40))
    found = Job(settings=(*several, Setting(name="MY_LAST")))
    (verdict,) = judge([load_text(RULE.format('s.text == "y"'))], View(found))
    assert verdict.outcome == "unknown"


def test_numbered_names_are_compared_once_with_those_of_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(left: str, right: str, limit: int) -> int | None:
        calls.append(left)
        return distance(left, right, limit)

    monkeypatch.setattr("ncdiag.nccl.judgement.names.distance", counted)
    for number in range(1000, 3000):
        assert of_name(f"NCCL_ROW_OF_TABLE{number}") is not None
    assert set(calls) == {"NCCL_ROW_OF_TABLE0000"}
    found = of_name("NCCL_P2P_DISABEL")
    assert found is not None
    assert found.near == ("NCCL_P2P_DISABLE",)
