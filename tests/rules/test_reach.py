"""Which hosts reach each other, and which lay their networks out differently: for all pairs without looking at each."""

from __future__ import annotations

import ipaddress
import random
from itertools import pairwise

import pytest
from generate.fleet import fleet
from linear import assert_linear

from ncdiag.diagnose import view_of
from ncdiag.facts.model import Address, Host, Interface, Job, Route
from ncdiag.facts.view import View
from ncdiag.knowledge.socket.addresses import unrouted_peers
from ncdiag.knowledge.socket.networks import prefix_difference
from ncdiag.knowledge.socket.reach import DEFAULT, Meeting, Waiting
from ncdiag.text.reading.job import job_of


def slowly(addresses: list[str], networks: list[tuple[str, bool]]) -> list[str]:
    """The same by the definition: the narrowest network that holds an address decides."""
    lost = []
    for text in addresses:
        address = ipaddress.ip_address(text)
        every = "0.0.0.0/0" if address.version == 4 else "::/0"
        known = [(ipaddress.ip_network(every if n == DEFAULT else n, strict=False), not r) for n, r in networks]
        holding = [(n.prefixlen, passes) for n, passes in known if n.version == address.version and address in n]
        if not max(holding, default=(0, False))[1]:
            lost.append(text)
    return lost


@pytest.mark.parametrize("seed", range(30))
def test_what_is_lost_is_what_the_narrowest_network_says(seed: int) -> None:
    draw = random.Random(seed)
    addresses = list(
        dict.fromkeys(f"10.{draw.choice((1, 2))}.{draw.randrange(4)}.{draw.randrange(9)}" for _ in range(40))
    )
    addresses += ["fd00::1", "fd00:1::2"]
    networks = [
        (f"10.{draw.choice((1, 2))}.{draw.randrange(4)}.{draw.randrange(9)}/{draw.choice((8, 16, 22, 24, 30, 32))}",
         draw.random() < 0.3)
        for _ in range(draw.randrange(6))
    ]  # fmt: skip
    networks += draw.choice(([], [(DEFAULT, False)], [(DEFAULT, True)], [("fd00::/32", False)]))
    interface = Interface(host="a", name="eth0")
    meeting = Meeting({text: [Waiting("a", interface, "addresses")] for text in addresses})
    assert meeting.lost(networks) == slowly(addresses, networks)


def host(name: str, ip: str, prefix: int, *routes: str, interface: str = "eth0") -> Host:
    return Host(
        name=name, looked_at=True, complete=frozenset({"interfaces", "routes", "env"}),
        interfaces=(
            Interface(
                host=name, name=interface, kind="physical", up=True, running=True,
                addresses=(Address(ip=ip, prefix_len=prefix),),
            ),
        ),
        routes=tuple(Route(host=name, destination=text, interface=interface) for text in routes),
    )  # fmt: skip


def job(*hosts: Host) -> tuple[Job, View]:
    made = Job(hosts=hosts)
    return made, view_of(made)


def test_a_host_has_no_route_to_the_others_alone() -> None:
    made, view = job(host("a", "10.1.0.1", 24), host("b", "10.1.0.2", 24), host("c", "10.9.0.3", 24, "10.1.0.0/16"))
    lost = {each.name: unrouted_peers(each, view) for each in made.hosts}
    assert lost == {"a": ("10.9.0.3",), "b": ("10.9.0.3",), "c": ()}


def test_a_host_alone_has_no_peers() -> None:
    made, view = job(host("a", "10.1.0.1", 24))
    assert unrouted_peers(made.hosts[0], view) is None


def test_a_network_inside_another_is_a_difference_and_one_beside_it_is_none() -> None:
    made, view = job(host("a", "10.1.0.1", 24), host("b", "10.1.0.2", 16))
    assert prefix_difference(made, view) == "eth0 of a is in 10.1.0.0/24, eth0 of b in 10.1.0.0/16"
    made, view = job(host("a", "10.1.0.1", 24), host("b", "10.1.1.2", 24))
    assert prefix_difference(made, view) == ""


def test_networks_that_no_host_shares_are_compared_by_name() -> None:
    made, view = job(host("a", "10.1.0.1", 24), *(host(f"n{i}", f"10.1.{i}.1", 24) for i in range(1, 9)))
    assert prefix_difference(made, view) == ""
    made, view = job(*made.hosts, host("z", "10.1.5.9", 20))
    assert prefix_difference(made, view) == "eth0 of a is in 10.1.0.0/24, eth0 of z in 10.1.0.0/20"


def test_the_work_grows_with_the_hosts() -> None:
    def work(made: Job) -> object:
        view = view_of(made)
        return [prefix_difference(made, view), *(unrouted_peers(each, view) for each in made.hosts)]

    assert_linear(work, lambda size: job_of([], [o for node in fleet(size) for o in node.observations()]), 12)


def test_the_work_grows_with_networks_of_their_own() -> None:
    """Each host has a network of its own, behind a router."""

    def make(size: int) -> Job:
        names = [(f"n{i}", f"10.{i // 250}.{i % 250}.1") for i in range(size)]
        assert all(one != other for one, other in pairwise(names))
        return Job(hosts=tuple(host(name, ip, 24, DEFAULT) for name, ip in names))

    def work(made: Job) -> object:
        view = view_of(made)
        found = [unrouted_peers(each, view) for each in made.hosts]
        assert set(found) == {()}
        return prefix_difference(made, view)

    assert_linear(work, make, 40)
