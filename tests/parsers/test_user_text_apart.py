"""Hosts or GPUs that work each alone, which is a trial of one; and what it shows of the network between hosts."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.diagnose import look
from ncdiag.engine.exclusion import Scene, past_bootstrap, past_rendezvous


def trials(text: str) -> set[tuple[str, str]]:
    view, _ = look(text)
    return {(trial.change, trial.outcome) for trial in view.job.trials}


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("Our job hangs. Each node works fine on its own.", "one-host"),
        ("I ran it again according to your suggestion, and every host could work normal respectively.", "one-host"),
        ("Both machines work when run separately.", "one-host"),
        ("The test passes, it runs on each server individually.", "one-host"),
        ("Individually, all nodes are fine.", "one-host"),
        ("Each GPU works alone.", "one-gpu"),
        ("每台机器单独跑都正常", "one-host"),
    ],
)
def test_each_works_alone(text: str, change: str) -> None:
    assert trials(text) == {(change, "works")}


@pytest.mark.parametrize(
    "text",
    [
        "Each node works.",
        "Each node does not work alone.",
        "Does each node work alone?",
        "Each node should work alone.",
        "According to the manual each node works alone.",
        "Only one of the nodes works, and each node fails on its own.",
    ],
)
def test_nothing_is_said_of_one_alone(text: str) -> None:
    assert trials(text) == set()


def excluded(text: str) -> set[str]:
    """The rules about the meeting of ranks that a text excludes."""
    view, _ = look(text)
    scene = Scene(view)
    names = {"launcher-master-addr-localhost", "socket-virtual-ifname"}
    rules = [rule for rule in catalogue.rules() if rule.name in names]
    return {rule.name for rule in rules if past_rendezvous(rule, scene) or past_bootstrap(rule, scene)}


HANGS = "My job on two nodes hangs at the start.\n"
SENDS = "n1:700:731 [0] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [send] via NET/{}/0\n"


def test_ranks_that_connect_over_rdma_have_met() -> None:
    assert excluded(HANGS + SENDS.format("IB")) == {"launcher-master-addr-localhost", "socket-virtual-ifname"}


def test_ranks_that_connect_over_tcp_have_met_at_the_rendezvous_only() -> None:
    assert excluded(HANGS + SENDS.format("Socket")) == {"launcher-master-addr-localhost"}


def test_ranks_of_one_host_say_nothing_of_others() -> None:
    assert excluded(HANGS + "n1:700:731 [0] NCCL INFO Channel 00/0 : 2[2] -> 3[3] via P2P/IPC\n") == set()


def test_a_job_that_is_slow_may_be_so_because_of_the_interface() -> None:
    slow = "My job on two nodes is slow.\n" + SENDS.format("IB")
    assert "socket-virtual-ifname" not in excluded(slow)
