"""What people say in sentences with a value: variables that are set, and how long a network was down."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from linear import assert_linear_time

from ncdiag.diagnose import look
from ncdiag.parsers.user_text import hosts, outages, settings


@pytest.mark.parametrize(
    ("sentence", "given"),
    [
        ("We set NCCL_IB_TIMEOUT=18 and NCCL_IB_RETRY_CNT=7.", {"NCCL_IB_TIMEOUT": "18", "NCCL_IB_RETRY_CNT": "7"}),
        ("The job runs with `NCCL_ALGO=Ring`.", {"NCCL_ALGO": "Ring"}),
        ("UCX_TLS=rc,cuda_copy is set on all nodes.", {"UCX_TLS": "rc"}),
        ("I have CUDA_VISIBLE_DEVICES=0 in my environment", {"CUDA_VISIBLE_DEVICES": "0"}),
        ("We put NCCL_SHM_DISABLE=1 because of a /dev/shm error a year ago.", {"NCCL_SHM_DISABLE": "1"}),
        ("I set NCCL_DEBGU=INFO in the script and I see no NCCL log at all.", {"NCCL_DEBGU": "INFO"}),
        ("We added NCCL_ALGO=Ring to the script.", {"NCCL_ALGO": "Ring"}),
    ],
)
def test_variables_that_are_said_to_be_set_are_settings(sentence: str, given: dict[str, str]) -> None:
    assert dict(settings.read(sentence)) == given
    job = look(f"It hangs on two nodes.\n{sentence}\n")[0].job
    assert {setting.name: setting.text for setting in job.settings} == given


@pytest.mark.parametrize(
    "sentence",
    [
        "Should I set NCCL_IB_TIMEOUT=18?",
        "If we set NCCL_IB_TIMEOUT=18 it hangs",
        "It works with NCCL_P2P_DISABLE=1.",
        "NCCL_P2P_DISABLE=1 makes it pass.",
        "We have tried NCCL_P2P_DISABLE=1.",
        "We run without NCCL_P2P_DISABLE=1.",
        "You could use NCCL_P2P_DISABLE=1 there.",
        "We use a variable such as NCCL_P2P_DISABLE=1.",
        "We use x=1 and NCCL=2.",
        "We have no NCCL_IB_DISABLE=1 anywhere.",
        "We put NCCL_P2P_DISABLE=1 there and see no difference.",
        "In our environment: NCCL_IB_DISABLE=1 is forbidden.",
        "They use NCCL_IB_DISABLE=1 in the other team's cluster.",
    ],
)
def test_what_is_asked_tried_or_supposed_is_no_setting(sentence: str) -> None:
    assert settings.read(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "given"),
    [
        ("I set NCCL_SOCKET_IFACE=eth4, and it makes no difference.", {"NCCL_SOCKET_IFACE": "eth4"}),
        ("I set NCCL_SOCKET_IFACE=eth4, and it works.", {}),
        ("I set NCCL_SOCKET_IFNAME=eth4, and it makes no difference.", {}),
        ("Before, NCCL_COMM_ID=node01 was set, and ncclGetUniqueId failed. We removed it.", {}),
    ],
)
def test_a_misspelt_variable_that_was_tried_in_vain_is_a_setting(sentence: str, given: dict[str, str]) -> None:
    job = look(f"It hangs on two nodes.\n{sentence}\n")[0].job
    assert {setting.name: setting.text for setting in job.settings} == given


@pytest.mark.parametrize(
    ("sentence", "complaints"),
    [
        ("We put NCCL_SHM_DISABLE=1 because of a hang in the old container.", 0),
        ("We have NCCL_SHM_DISABLE=1, since we had an error of /dev/shm once.", 0),
        ("We put NCCL_SHM_DISABLE=1 and it hangs.", 1),
        ("In our trainer, if any rank fails we all_reduce a flag and all ranks skip the batch.", 0),
    ],
)
def test_a_trouble_for_which_something_was_done_is_not_that_of_now(sentence: str, complaints: int) -> None:
    job = look(f"{sentence}\n")[0].job
    assert len(job.complaints) == complaints
    assert [t for t in job.trials if t.outcome == "fails"] == [] or complaints


@pytest.mark.parametrize(
    ("sentence", "releases"),
    [
        ("The driver on node1 is 535.104.05 and on node2 550.54.15.", {"node1": "535.104.05", "node2": "550.54.15"}),
        ("node a has NCCL 2.21.5, node b NCCL 2.18.3.", {"node-a": "2.21.5", "node-b": "2.18.3"}),
        ("node a has NCCL 2.21.5, node b NCCL 2.21.5.", {}),
        ("Would node a with NCCL 2.21.5 and node b with 2.18.3 work?", {}),
        ("With NCCL 2.21.5 it hangs, with 2.18.3 it works.", {}),
    ],
)
def test_releases_that_hosts_are_said_to_have(sentence: str, releases: dict[str, str]) -> None:
    said = hosts.Releases()
    said.read(sentence, 1)
    assert {host: release for host, _, release, _ in said.differing()} == releases


def test_releases_of_hosts_may_be_said_line_by_line() -> None:
    job = look("It hangs at the start.\nnode-a has NCCL 2.21.5 from pip.\nnode-b has NCCL 2.18.3 from conda.\n")[0].job
    assert {host.name: str(host.nccl_version) for host in job.hosts} == {"node-a": "2.21.5", "node-b": "2.18.3"}


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [
        ("The links were down for about 19 seconds.", 19),
        ("The fabric was gone for 30 s when the spine failed over.", 30),
        ("After a link flap of 12 seconds the training died.", 12),
        ("There was an outage of the leaf switch for 2 minutes.", 120),
        ("A 20-second network interruption ended the job.", 20),
        ("交换机重启，链路中断了 19 秒", 19),
    ],
)
def test_the_length_of_an_outage_is_read(sentence: str, seconds: float) -> None:
    assert outages.read(sentence) == seconds


@pytest.mark.parametrize(
    "sentence",
    [
        "If the link is down for 20 s, the job dies.",
        "Was the switch down for 20 s?",
        "The training is down to 3 s for each step over the network.",
        "The network takes 30 s to start.",
        "The link was down.",
        "Each step lasts 3 seconds.",
        "The switch was rebooted 10 minutes ago.",
        "The switches were restarted 3 min before the job started.",
        "A switch reboots in 5 minutes.",
        "The port flaps every 45 minutes on another cluster.",
        "The network was never down for 30 seconds.",
        "The port flaps, the cable has 2 m.",
    ],
)
def test_other_lengths_are_no_outage(sentence: str) -> None:
    assert outages.read(sentence) is None


@pytest.mark.parametrize("read", [outages.read, settings.read, lambda text: hosts.Releases().read(text, 0)])
def test_a_long_sentence_takes_linear_time(read: Callable[[str], object]) -> None:
    assert_linear_time(read, lambda n: "the link was down for and we set A_B= the switch " * n, 200)


@pytest.mark.parametrize(
    "said",
    ["alltoall_perf is half as fast", "Only all-to-all is slow", "alltoallv is slow", "slow in alltoall_perf_mpi"],
)
def test_a_test_of_all_to_all_is_a_use_of_it(said: str) -> None:
    contexts = look(f"{said} since the upgrade on our 4 nodes.\n")[0].job.contexts
    assert "alltoall" in {context.value for context in contexts}
