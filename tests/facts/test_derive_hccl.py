"""What the lines of HCCL tell when they are read together."""

from __future__ import annotations

import json

import pytest

from ncdiag.facts.view import View
from ncdiag.knowledge.hccl.errors import hccl_awaited, hccl_difference, hccl_env_faults, hccl_waiting
from ncdiag.knowledge.hccl.rank_tables import port_address
from ncdiag.text.reading.job import facts_of

_HEAD = "[ERROR] HCCL(10261,python):2026-02-11-01:20:11.205.229 "


def view_of(**sections: str) -> View:
    return View(facts_of({kind: (text,) for kind, text in sections.items()}, None))


def connected(numbers: list[int], expected: int) -> str:
    listed = ",".join(f"[{number:016d}]" for number in numbers)
    return (
        f"{_HEAD}[topoinfo_exchange_server.cc:113] [57044]topo exchange server get socket timeout! timeout[120 s]\n"
        f"{_HEAD}[topoinfo_exchange_server.cc:503] [57044]need connect rankNum is [{expected}]\n"
        f"{_HEAD}[topoinfo_exchange_server.cc:253] [57044]connected rankinfo[LINE 0]: {listed};\n"
    )


@pytest.mark.parametrize(
    ("text", "awaited"),
    [
        (connected([0, 1, 3], 4), "rank 2"),
        (connected([0, 1], 4), "ranks 2-3"),
        (
            (
                f"{_HEAD}[topoinfo_exchange_base.cc:119] [350697] TopoDetect ERROR occur !!! fault_type[1], "
                'fault_info["Failed to connect agent[1,9,]"]\n'
            ),
            "ranks 1,9",
        ),
        (
            (
                f"{_HEAD}[hccl_socket_manager.cc:816] [3977]wait socket establish timeout, "
                "role[0] rank[0] timeout[120 s]\n"
                f"{_HEAD}[hccl_socket_manager.cc:599] [3977]  |  10.3.0.2(1)   |  16666  |  10.3.0.1(0)   "
                "|  0  |  server  | time out   | DISABLE |\n"
            ),
            "10.3.0.2 (rank 1)",
        ),
        ("EI0006: Getting socket times out. Reason: nobody is named.\n", "a peer"),
    ],
)
def test_the_peer_that_did_not_come_is_named(text: str, awaited: str) -> None:
    view = view_of(text=text)
    names = {"hccl-socket-timeout", "hccl-ranks-missing"}
    assert {hccl_awaited(e, view) for e in view.job.events if e.event in names} == {awaited}


def test_the_rank_that_a_collective_waits_for_is_named_in_both_forms() -> None:
    old = "EI0002: The wait execution of the Notify register times out. Reason: no record from remote rank [3]."
    new = "Communication_Error_Timeout(EI0002): An timeout occurs. Waiting peer rank: 5; task information: streamID"
    view = view_of(text=f"{old}\n{new}\n")
    assert [hccl_waiting(e, view) for e in view.job.events] == [" for rank 3", " for rank 5"]


def test_operations_are_compared_by_their_names() -> None:
    text = (
        f"{_HEAD}[rank_consistentcy_checker.cc:429] [3]CMD information tag check fail. local[AllGather_10.1.0.1%eno1], "
        f"remote[AllReduce_10.1.0.1%eno1]\n"
        f"{_HEAD}[rank_consistentcy_checker.cc:439] [3]CMD information op check fail. local[255], remote[0]\n"
    )
    view = view_of(text=text)
    assert {hccl_difference(e, view) for e in view.job.events} == {": AllGather and AllReduce"}


def table(*addresses: tuple[str, str]) -> str:
    servers = [
        {"server_id": server, "device": [{"device_id": str(n), "device_ip": ip, "rank_id": str(n)}]}
        for n, (server, ip) in enumerate(addresses)
    ]
    return json.dumps(
        {"version": "1.0", "status": "completed", "server_count": str(len(servers)), "server_list": servers}
    )


@pytest.mark.parametrize(
    ("addresses", "told"),
    [
        ([("10.0.0.1", "29.1.0.8")], ""),
        ([("10.0.0.1", "29.1.0.9")], "device 0 of 10.0.0.1 has 29.1.0.8, the table 29.1.0.9"),
        ([("10.0.0.1", "29.1.0.9"), ("10.0.0.2", "29.1.1.9")], None),  # whose ports these are is not known
    ],
)
def test_the_address_of_a_port_is_compared_with_that_of_the_table(
    addresses: list[tuple[str, str]], told: str | None
) -> None:
    port = "[root@as01 ~]# hccn_tool -i 0 -ip -g\nipaddr:29.1.0.8\nnetmask:255.255.255.0\n"
    view = view_of(hccl_ranktable=table(*addresses), hccn_tool=port)
    assert port_address(view.job.rank_tables[0], view) == told


@pytest.mark.parametrize(
    ("seconds", "told"), [("30", "HCCL_CONNECT_TIMEOUT=30 is out of range: 120 to 7200"), ("600", "")]
)
def test_a_time_is_compared_with_what_hccl_takes(seconds: str, told: str) -> None:
    view = view_of(env=f"export HCCL_CONNECT_TIMEOUT={seconds}\n")
    assert [e.text for e in hccl_env_faults(view.job, view)] == [told]
