"""How far a job came, told in the sentence before: as in one sentence, unless that is about another job."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.diagnose import look
from ncdiag.engine.exclusion import Scene, past_setup

SETUP = {"socket-firewall-ephemeral-ports", "launcher-master-addr-wrong"}
FIREWALL = " The firewall is on, and ports are blocked."


def causes(text: str) -> dict[str, bool]:
    """Whether each cause of a failing set-up is a suspect (True) or excluded by the steps (False)."""
    view, _ = look(text)
    scene = Scene(view)
    rules = [rule for rule in catalogue.rules() if rule.name in SETUP]
    return {rule.name: past_setup(rule, scene) is None for rule in rules}


def phases(text: str) -> set[str | None]:
    view, _ = look(text)
    return {found.phase for found in view.job.complaints}


@pytest.mark.parametrize(
    "text",
    [
        "It ran fine for 200 steps and then NCCL hangs in all_reduce.",
        "It ran fine for 200 steps. Then NCCL hangs in all_reduce.",
        "NCCL hangs in all_reduce. It ran fine for 200 steps. Then nothing happens any more.",
        "NCCL ran fine for 200 steps on two nodes and then it hangs.",
        "My job trains for about three hours. Suddenly it crashes.",
        "The first 50 iterations went fine. After that my job hangs.",
        "我的任务正常跑了200步。然后卡住了。",
    ],
)
def test_the_job_had_run(text: str) -> None:
    assert phases(text) == {"later"}


@pytest.mark.parametrize(
    "text",
    [
        "On one node my job ran fine for 200 steps. Then I tried two nodes, and it hangs.",
        "My job ran for 200 steps on A100. Then on H100 it hangs.",
        "Before the update my job ran for 200 steps. Then it hangs.",
        "My job ran fine for 200 steps. NCCL hangs in all_reduce on two nodes.",
        "My job should run for 200 steps. Then it hangs.",
        "My job hangs. Then I restart it.",
    ],
)
def test_nothing_is_said_of_this_job(text: str) -> None:
    assert "later" not in phases(text)


@pytest.mark.parametrize(
    "text",
    [
        "My job ran fine for 200 steps and then it hangs.",
        "My job hangs. It ran fine for 200 steps. Then nothing happens any more.",
    ],
)
def test_steps_exclude_what_keeps_a_job_from_starting(text: str) -> None:
    assert causes(text + FIREWALL) == {"socket-firewall-ephemeral-ports": False, "launcher-master-addr-wrong": False}


@pytest.mark.parametrize(
    "text",
    [
        "My job hangs.",
        "My job hangs at random.",
        "On one node my job ran fine for 200 steps. Then I tried two nodes, and it hangs.",
    ],
)
def test_without_told_steps_nothing_is_excluded(text: str) -> None:
    assert all(causes(text + FIREWALL).values())


@pytest.mark.parametrize(
    ("text", "is_past"),
    [
        ("Last week our job hung at step 10.", True),
        ("Last week it hung for a while, now everything trains fine.", True),
        ("Our job hung two months ago at step 10.", True),
        ("上周我们的训练卡住了，现在正常。", True),
        ("Our job hangs since last week.", False),
        ("Our job worked last week, now it hangs.", False),
        ("Our job hung yesterday, today again.", False),
        ("Our training hung last night.", False),
        ("The job that I started yesterday hung at step 100.", False),
        ("We upgraded last week and the training hung.", False),
    ],
)
def test_a_hang_of_another_day(text: str, is_past: bool) -> None:
    view, _ = look(text)
    assert {found.is_past for found in view.job.complaints if found.what == "hangs"} == {is_past}
