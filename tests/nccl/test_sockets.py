from __future__ import annotations

from collections.abc import Mapping

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.model import Address, Interface
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.selection.names import NameList

OLD, NEW = Version(2, 18, 3), Version(2, 30, 7)


def iface(name: str, *addresses: str, running: bool | None = True, unseen: bool = False) -> Interface:
    parsed = []
    for text in addresses:
        ip, _, length = text.partition("/")
        parsed.append(Address(ip, int(length) if length else None))
    return Interface(host="n1", name=name, running=running, addresses=None if unseen else tuple(parsed))


LO = iface("lo", "127.0.0.1/8", "::1/128")
DOCKER = iface("docker0", "172.17.0.1/16")
VETH = iface("veth5a3f1c2", "172.19.0.1/16")
BOND = iface("bond0", "10.0.0.5/24", "fe80::5/64")
ETH1, ETH10 = iface("eth1", "10.1.0.5/24"), iface("eth10", "10.10.0.5/24")

# what is there, what is set, what 2.18.3 and 2.30.7 list for NET/Socket (None: nothing found)
CASES: dict[str, tuple[tuple[Interface, ...], Mapping[str, str], str | None, str | None]] = {
    "a veth in front is taken": ((LO, VETH, BOND), {}, "veth5a3f1c2 bond0", "veth5a3f1c2 bond0"),
    "docker is excluded": ((LO, DOCKER, BOND), {}, "bond0", "bond0"),
    "docker as a last resort": ((LO, DOCKER), {}, "docker0", "docker0"),
    "lo as a last resort": ((LO,), {}, "lo", "lo"),
    "virbr counts before 2.28": ((LO, iface("virbr0", "192.168.122.1/24"), BOND), {}, "virbr0 bond0", "bond0"),
    "virbr as a last resort": ((iface("virbr0", "192.168.122.1/24"),), {}, "virbr0", "virbr0"),
    "ib goes first and alone": ((LO, BOND, iface("ib0", "10.9.0.1/24")), {}, "ib0", "ib0"),
    "ib is a beginning": ((BOND, iface("ibmgmt", "10.8.0.1/24")), {}, "ibmgmt", "ibmgmt"),
    "lo excludes lowpan0": ((LO, iface("lowpan0", "10.8.0.1/24"), BOND), {}, "bond0", "bond0"),
    "docker excludes docker_gwbridge": ((iface("docker_gwbridge", "172.18.0.1/16"), BOND), {}, "bond0", "bond0"),
    "other bridges are not excluded": ((iface("br-4f2a", "172.20.0.1/16"), BOND), {}, "br-4f2a bond0", "br-4f2a bond0"),
    "one without carrier counts before 2.28": (
        (iface("eth0", "10.5.0.1/24", running=False), BOND), {}, "eth0 bond0", "bond0",
    ),
    "IPv4 of all goes before IPv6": ((iface("veth1", "fe80::1/64"), BOND), {}, "bond0 veth1", "bond0 veth1"),
    "link-local IPv6 is not skipped": ((iface("veth1", "fe80::1/64"),), {}, "veth1", "veth1"),
    "a forced family": ((ETH1, BOND), {"NCCL_SOCKET_FAMILY": "AF_INET6"}, "bond0", "bond0"),
    "an unknown family forces nothing": ((ETH1, BOND), {"NCCL_SOCKET_FAMILY": "ipv6"}, "eth1 bond0", "eth1 bond0"),
    "::1 is skipped": ((LO,), {"NCCL_SOCKET_FAMILY": "AF_INET6"}, None, None),
    "a plain name is a beginning": ((ETH10, ETH1), {"NCCL_SOCKET_IFNAME": "eth1"}, "eth10 eth1", "eth10 eth1"),
    "an exact name": ((ETH10, ETH1), {"NCCL_SOCKET_IFNAME": "=eth1"}, "eth1", "eth1"),
    "one sign for the list": ((ETH10, ETH1, BOND), {"NCCL_SOCKET_IFNAME": "=eth1,bond0"}, "eth1 bond0", "eth1 bond0"),
    "an exact exclusion": ((LO, ETH10, ETH1), {"NCCL_SOCKET_IFNAME": "^=eth1,lo"}, "eth10", "eth10"),
    "^ replaces the default exclusion": ((LO, DOCKER, BOND), {"NCCL_SOCKET_IFNAME": "^docker"}, "lo bond0", "lo bond0"),
    "^ admits veth": (
        (LO, VETH, DOCKER, BOND), {"NCCL_SOCKET_IFNAME": "^lo,docker0"}, "veth5a3f1c2 bond0", "veth5a3f1c2 bond0",
    ),
    "a later ^ is a letter": ((LO, ETH1), {"NCCL_SOCKET_IFNAME": "eth1,^lo"}, "eth1", "eth1"),
    "find or fail": ((LO, BOND), {"NCCL_SOCKET_IFNAME": "=eth0"}, None, None),
    "a blank belongs to the name": ((ETH1,), {"NCCL_SOCKET_IFNAME": "eth1 "}, None, None),
    "! is a letter": ((LO, ETH1), {"NCCL_SOCKET_IFNAME": "!lo"}, None, None),
    "quotes are letters": ((ETH1,), {"NCCL_SOCKET_IFNAME": '"eth1"'}, None, None),
    "no patterns": ((ETH1,), {"NCCL_SOCKET_IFNAME": "eth*"}, None, None),
    "one character is ignored": ((LO, ETH1), {"NCCL_SOCKET_IFNAME": "x"}, "eth1", "eth1"),
    "a port is ignored": ((ETH1, BOND), {"NCCL_SOCKET_IFNAME": "bond0:1234"}, "bond0", "bond0"),
    "the subnet of NCCL_COMM_ID": ((ETH1, BOND), {"NCCL_COMM_ID": "10.0.0.9:77"}, "bond0", "bond0"),
    "ib before NCCL_COMM_ID": ((iface("ib0", "10.9.0.1/24"), BOND), {"NCCL_COMM_ID": "10.0.0.9:77"}, "ib0", "ib0"),
    "no subnet: as without": ((ETH1, BOND), {"NCCL_COMM_ID": "192.0.2.1:77"}, "eth1 bond0", "eth1 bond0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_interfaces_of_the_socket_transport(name: str) -> None:
    interfaces, env, old, new = CASES[name]
    for version, expected in ((OLD, old), (NEW, new)):
        choice = sockets.net_socket(interfaces, env, version)
        assert choice.known
        assert (" ".join(choice.names) or None) == expected, choice.reasons
        assert (choice.error is None) == (expected is not None)
        first = sockets.bootstrap(interfaces, {k: v for k, v in env.items() if k != "NCCL_COMM_ID"}, version)
        if "NCCL_COMM_ID" not in env:
            assert first.names == tuple((expected or "").split()[:1])
        assert all(reason.rule for reason in choice.reasons)


@pytest.mark.parametrize(
    ("comm_id", "expected", "error"),
    [
        ("10.0.0.9:1234", "bond0", None), ("10.1.0.9", "eth1", None), ("127.0.0.1:1", "lo", None),
        ("[fe80::9%bond0]:1", "bond0", None), ("[fe80::9%eth1]:1", None, sockets.NO_SUBNET),
        ("192.0.2.1:1", None, sockets.NO_SUBNET), ("", None, sockets.BAD_COMM_ID), (":77", None, sockets.BAD_COMM_ID),
        ("[10.0.0.9]:1", None, sockets.NO_SUBNET), ("[fe80::9", None, sockets.BAD_COMM_ID),
    ],
)  # fmt: skip
def test_bootstrap_with_comm_id(comm_id: str, expected: str | None, error: str | None) -> None:
    env = {"NCCL_COMM_ID": comm_id, "NCCL_SOCKET_IFNAME": "=eth1"}
    choice = sockets.bootstrap((LO, ETH1, BOND), env, OLD)
    assert choice.known
    assert (choice.names or (None,))[0] == expected
    assert choice.error == error


def test_bootstrap_with_comm_id_takes_one_that_is_not_running() -> None:
    dark = iface("eth0", "10.5.0.1/24", running=False)
    assert sockets.bootstrap((dark, BOND), {"NCCL_COMM_ID": "10.5.0.9:1"}, NEW).names == ("eth0",)


def test_a_host_name_in_comm_id_leaves_it_open() -> None:
    choice = sockets.bootstrap((LO, BOND), {"NCCL_COMM_ID": "head:1234"}, OLD)
    assert not choice.known
    assert set(choice.possible) == {"lo", "bond0"}
    assert "head" in choice.reasons[0].text


def test_exact_form_before_2_5_is_a_letter() -> None:
    env = {"NCCL_SOCKET_IFNAME": "=eth1"}
    assert sockets.bootstrap((ETH1,), env, Version(2, 4, 8)).error == sockets.NO_BOOTSTRAP
    assert sockets.bootstrap((ETH1,), env, Version(2, 5, 6)).names == ("eth1",)
    assert not sockets.bootstrap((ETH1,), env, None).known


def test_at_most_sixteen_names_and_sixteen_devices() -> None:
    many = tuple(iface(f"e{n:02}", f"10.{n}.0.1/24") for n in range(20))
    assert len(sockets.net_socket(many, {}, OLD).names) == 16
    wanted = "=" + ",".join(f"e{n:02}" for n in range(20))
    assert sockets.net_socket(many, {"NCCL_SOCKET_IFNAME": wanted}, OLD).names[-1] == "e15"


class TestUnknown:
    def test_running_does_not_matter_before_2_28(self) -> None:
        eth = iface("eth0", "10.0.0.1/24", running=None)
        assert sockets.bootstrap((eth,), {}, OLD).names == ("eth0",)
        choice = sockets.bootstrap((eth, BOND), {}, NEW)
        assert not choice.known
        assert choice.possible == ("eth0", "bond0")
        assert not sockets.bootstrap((eth,), {}, None).known

    def test_what_comes_later_does_not_matter(self) -> None:
        later = iface("veth1", unseen=True)
        assert sockets.bootstrap((BOND, later), {}, OLD).names == ("bond0",)
        assert not sockets.bootstrap((later, BOND), {}, OLD).known
        assert not sockets.net_socket((BOND, later), {}, OLD).known

    def test_what_is_excluded_by_name_does_not_matter(self) -> None:
        assert sockets.bootstrap((iface("docker0", unseen=True), BOND), {}, OLD).names == ("bond0",)

    def test_an_earlier_step_that_may_find_something(self) -> None:
        choice = sockets.bootstrap((BOND, iface("ib0", unseen=True)), {}, OLD)
        assert not choice.known
        assert set(choice.possible) == {"ib0", "bond0"}

    def test_another_address_of_the_same_interface_does_not_matter(self) -> None:
        assert sockets.bootstrap((iface("eth0", "10.0.0.1", running=None),), {}, OLD).names == ("eth0",)

    def test_settings_that_may_be_set(self) -> None:
        assert not sockets.bootstrap((BOND,), {"NCCL_SOCKET_IFNAME": None}, OLD).known
        assert sockets.bootstrap((ETH1,), {"NCCL_SOCKET_FAMILY": None}, OLD).known is False  # AF_INET6 would leave none
        both = iface("eth0", "10.0.0.1/24", "fd00::1/64")
        assert not sockets.bootstrap((both,), {"NCCL_SOCKET_FAMILY": None}, OLD).known  # another address

    def test_a_version_range_that_agrees(self) -> None:
        releases = VersionRange(Version(2, 8), Version(2, 30))
        assert sockets.bootstrap((LO, BOND), {}, releases).names == ("bond0",)
        virbr = iface("virbr0", "192.168.122.1/24")
        choice = sockets.bootstrap((virbr, BOND), {}, releases)
        assert not choice.known
        assert "version" in choice.reasons[0].text


_NAMES = st.sampled_from(["lo", "eth0", "eth1", "ib0", "docker0", "virbr0", "veth1", "bond0"])
_ADDRESSES = st.lists(st.sampled_from(["10.0.0.1/24", "10.1.0.1/24", "fe80::1/64", "::1/128"]), max_size=2, unique=True)


@st.composite
def _layouts(draw: st.DrawFn) -> tuple[Interface, ...]:
    names = draw(st.lists(_NAMES, unique=True, max_size=5))
    return tuple(iface(name, *draw(_ADDRESSES), running=draw(st.booleans())) for name in names)


@examples(150)
@given(_layouts(), st.sampled_from([None, "eth", "=eth0", "^lo", "lo", "ib"]), st.data())
def test_an_answer_with_gaps_is_the_answer_of_every_way_to_fill_them(
    layout: tuple[Interface, ...], wanted: str | None, data: st.DataObject
) -> None:
    env = {} if wanted is None else {"NCCL_SOCKET_IFNAME": wanted}
    hidden = tuple(
        Interface(
            host="n1", name=one.name,
            running=None if data.draw(st.booleans()) else one.running,
            addresses=None if data.draw(st.integers(0, 3)) == 0 else one.addresses,
        )
        for one in layout
    )  # fmt: skip
    for version in (OLD, NEW):
        partial = sockets.bootstrap(hidden, env, version)
        whole = sockets.bootstrap(layout, env, version)
        if partial.known:
            assert partial.names == whole.names
            assert partial.error == whole.error
        else:
            assert whole.error or whole.names[0] in partial.possible


@pytest.mark.parametrize("text", ["", "^", "=", "^=", ",,,", ":::", "^,=", "a" * 10000, "a:-1", "a:9999999999", "\x00"])
def test_no_list_is_too_odd(text: str) -> None:
    for version in (Version(2, 3, 5), OLD, NEW):
        parsed = NameList.parse(text, version)
        assert parsed.admits("eth0", 1) in {True, False}
        assert sockets.bootstrap((LO, ETH1), {"NCCL_SOCKET_IFNAME": text}, version).known
