"""Hosts that NCCL cannot tell apart share one choice: it is the one that each of them has alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from generate.fleet import ODDITIES, fleet
from specimens import FIXTURES

from ncdiag.diagnose import view_of
from ncdiag.facts.model import Address, Host, Job, Rank, Setting
from ncdiag.facts.view import View
from ncdiag.knowledge.env.lists import _may_carry_data
from ncdiag.knowledge.socket.choice import _simulated
from ncdiag.knowledge.socket.interfaces import _finds_none
from ncdiag.machine.host import look
from ncdiag.machine.inputs import inputs
from ncdiag.nccl.on_host.nameless import nameless, of_like
from ncdiag.report import choices
from ncdiag.text.reading.many import read_all

ROOTS = sorted((FIXTURES.parent / "roots").iterdir())
HEALTHY = sorted((FIXTURES.parent / "healthy").iterdir())


def assert_shared_is_own(view: View) -> None:
    for host in view.job.hosts:
        alone = View(view.job, view._resolve)
        own = {
            name: choices.Told(one.seen, choices._without_addresses(one.why, host))
            for name, one in choices._chosen(host, alone).items()
        }
        assert choices.chosen(host, view, beside_others=True) == own
        for find in (_simulated, _finds_none, _may_carry_data):
            assert of_like(host, view, find.__name__, find) == find(host, alone)


@pytest.mark.parametrize("root", ROOTS, ids=lambda path: path.name)
def test_of_recorded_trees(root: Path) -> None:
    assert_shared_is_own(view_of(read_all([look(root, ask_library=False)]).job()))


@pytest.mark.parametrize("folder", HEALTHY, ids=lambda path: path.name)
def test_of_pasted_outputs(folder: Path) -> None:
    assert_shared_is_own(view_of(read_all(inputs([str(folder)])).job()))


def with_setting(name: str, text: str) -> Callable[[Host], Host]:
    def changed(host: Host) -> Host:
        setting = Setting(name=name, text=text, is_set=True, host=host.name, origin="live")
        return msgspec.structs.replace(host, settings={**host.settings, name: setting})

    return changed


def with_ipv6_alone(host: Host) -> Host:
    number = int(host.name.removeprefix("gpu"))
    addresses = (Address(f"fe80::{number:x}%eno1", 64), Address(f"2001:db8:7::{number:x}", 64))
    return msgspec.structs.replace(
        host, interfaces=tuple(
            msgspec.structs.replace(one, addresses=addresses) if one.name == "eno1" else one for one in host.interfaces
        ),
    )  # fmt: skip


CHANGES = {
    "as it is": lambda host: host,
    "a rendezvous in the network of one host": with_setting("NCCL_COMM_ID", "10.64.0.2:5000"),
    "a range of addresses": with_setting("NCCL_IB_ADDR_RANGE", "10.65.0.0/30"),
    "all interfaces but one": with_setting("NCCL_SOCKET_IFNAME", "^eno1"),
    "the family": with_setting("NCCL_SOCKET_FAMILY", "AF_INET6"),
    "IPv6 alone": with_ipv6_alone,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_of_a_cluster(change: Callable[[Host], Host]) -> None:
    job = read_all(fleet(len(ODDITIES) * 2 + 2, *ODDITIES)).job()
    hosts = tuple(map(change, job.hosts))
    settings = tuple(setting for host in hosts for setting in host.settings.values())
    assert_shared_is_own(view_of(msgspec.structs.replace(job, hosts=hosts, settings=settings)))


def test_alike_hosts_are_one() -> None:
    view = view_of(read_all(fleet(6, "firmware", "port")).job())
    found = [nameless(host, view) for host in view.job.hosts]
    distinct = {id(one) for one in found}
    assert None not in found
    assert len(distinct) == 3, "the usual host, that with other firmware, that with a port that is down"


def test_more_than_the_host_decides() -> None:
    view = view_of(read_all(fleet(2)).job())
    first, second = view.job.hosts
    running = View(msgspec.structs.replace(view.job, ranks=(Rank(host=first.name, rank=0),)))
    assert nameless(first, running) is None
    assert nameless(second, running) is not None
    assert nameless(msgspec.structs.replace(second), running) is None, "not as it was seen"
    assert nameless(first, View(Job(hosts=(first,)))) is not None
