"""Derived facts of connections that programs other than NCCL could not make."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import Address, Event, Host, Interface, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import peer_ip
from ncdiag.messages.vocabulary.connections import is_unanswered, leads_nowhere, speaker


def refused(address: str, event: str = "ucx-connect-failed", error: str = "Connection refused") -> Event:
    return Event(event=event, origin="mpi", peer=address, text=error, fields={"error": error})


def nowhere(event: Event, *, nhosts: int | None = None, hosts: tuple[Host, ...] = ()) -> str | None:
    return leads_nowhere(event, View(Job(events=(event,), hosts=hosts, nhosts=nhosts)))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("172.17.0.1:40000", "Docker's bridge"),
        ("172.31.0.1:40000", "Docker's bridge"),
        ("172.17.0.3:40000", "Docker's own network"),
        ("192.168.122.1:40000", "libvirt's bridge"),
        ("10.88.0.1:40000", "Podman's bridge"),
        ("192.168.56.1:40000", "VirtualBox"),
        ("169.254.20.10:40000", "link-local"),
        ("[fe80::1%eth0]:40000", "link-local"),
    ],
)
def test_addresses_that_lead_nowhere(address: str, words: str) -> None:
    assert words in (nowhere(refused(address)) or "")


@pytest.mark.parametrize("address", ["10.1.2.3:40000", "172.18.12.43:40000", "172.16.0.1:40000", "192.168.122.7:40000"])
def test_addresses_that_may_be_those_of_hosts(address: str) -> None:
    assert nowhere(refused(address)) is None


def test_what_no_line_tells_is_unknown() -> None:
    assert nowhere(refused("n2:40000")) is None
    assert nowhere(Event(event="ucx-connect-failed", origin="mpi")) is None


def test_loopback_misleads_where_there_are_several_hosts() -> None:
    aimed = refused("127.0.1.1:40000")
    assert "loopback" in (nowhere(aimed, nhosts=2) or "")
    assert nowhere(aimed, nhosts=1) == ""
    assert nowhere(aimed) is None
    assert nowhere(refused("127.0.0.1:40000", "grpc-connect-failed"), nhosts=2) == ""


def test_nothing_is_wrong_with_a_bridge_in_a_job_of_one_host() -> None:
    assert nowhere(refused("172.17.0.1:40000"), nhosts=1) == ""


def test_the_interface_that_has_the_address_decides() -> None:
    def host(name: str, ip: str) -> Host:
        return Host(name="n2", interfaces=(Interface(host="n2", name=name, addresses=(Address(ip),)),))

    assert "cni0 on n2" in (nowhere(refused("10.9.0.1:1"), hosts=(host("cni0", "10.9.0.1"),)) or "")
    assert nowhere(refused("172.17.0.3:1"), hosts=(host("eno1", "172.17.0.3"),)) == ""


@pytest.mark.parametrize(
    ("error", "address", "silent"),
    [
        ("Connection timed out", "10.1.2.3:1", True),
        ("No route to host", "10.1.2.3:1", True),
        ("Connection refused", "10.1.2.3:1", False),
        ("Connection timed out", "172.17.0.1:1", False),
    ],
)
def test_who_does_not_answer(error: str, address: str, silent: bool) -> None:
    event = refused(address, error=error)
    assert is_unanswered(event, View(Job(events=(event,)))) is silent


def test_a_line_of_another_kind_has_no_speaker() -> None:
    event = Event(event="socket-connect-failed", origin="nccl", peer="10.0.0.1<4>")
    assert speaker(event, View(Job())) == ""


@pytest.mark.parametrize(
    ("peer", "ip"),
    [
        ("10.0.0.1<4>", "10.0.0.1"),
        ("10.0.0.1:4", "10.0.0.1"),
        ("[fd00::2]:4", "fd00::2"),
        ("fe80::1%eth0<0>", "fe80::1"),
        ("n1", None),
    ],
)
def test_the_address_of_a_peer(peer: str, ip: str | None) -> None:
    assert peer_ip(Event(event="x", origin="nccl", peer=peer), View(Job())) == ip
