"""Values computed from facts, and proofs over them, the planted traps included."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.facts.model import (
    Address,
    Event,
    Gid,
    Gpu,
    Hca,
    Host,
    Interface,
    Job,
    Launch,
    LaunchHost,
    NetDevice,
    Port,
    Rank,
    Route,
    Setting,
)  # fmt: skip
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.prove import prove
from ncdiag.fixes.values import Values, registry
from ncdiag.text.sources.files import TextSource

V218, V221 = VersionRange.exact("2.18.3"), VersionRange.exact("2.21.5")
LL = "fe80::1ac0:4dff:fe10:1"


def iface(host: str, name: str, *addresses: str, **fields: Any) -> Interface:  # noqa: ANN401
    parsed = tuple(Address(a.split("/")[0], int(a.split("/")[1]) if "/" in a else None) for a in addresses)
    return Interface(host=host, name=name, **{"up": True, "running": True, "addresses": parsed, **fields})


def host(name: str, *interfaces: tuple[Any, ...], **fields: Any) -> Host:  # noqa: ANN401
    shown = tuple(iface(name, *one) for one in interfaces)
    complete = frozenset({"interfaces"}) if interfaces else frozenset()
    return Host(name=name, **{"interfaces": shown, "complete": complete, "nccl_version": V218, **fields})


LO, DOCKER = ("lo", "127.0.0.1/8"), ("docker0", "172.17.0.1/16")
VETH = ("veth5a3f1c2", "172.19.0.1/16")


def view(*hosts: Host, **fields: Any) -> View:  # noqa: ANN401
    return View(Job(hosts=hosts, **{"nhosts": len(hosts), **fields}))


def best(name: str, seen: View, **bindings: object) -> str | None:
    return Values(seen)(name, bindings)


def from_log(name: str, *interfaces: tuple[Any, ...], **fields: Any) -> Rank:  # noqa: ANN401
    listed = tuple(Interface(host=name, name=n, addresses=tuple(map(Address, ips))) for n, *ips in interfaces)
    return Rank(host=name, **{"rank": 0, "socket_interfaces": listed, "nccl_version": V218, **fields})


class TestSharedInterface:
    def test_the_network_that_all_hosts_share(self) -> None:
        seen = view(
            host("n1", LO, VETH, ("eno1", "192.168.1.11/24"), ("bond0", "10.0.0.11/24")),
            host("n2", LO, VETH, ("eno1", "192.168.2.12/24"), ("bond0", "10.0.0.12/24")),
        )
        value = Values(seen).compute("shared_interface", {})
        assert (value.text, value.ask_for) == ("=bond0", ())
        assert "10.0.0.11/24" in value.reason
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=bond0"}).state == "proved"

    def test_names_that_differ_between_hosts(self) -> None:
        seen = view(host("n1", LO, ("eno1", "10.0.0.11/24")), host("n2", LO, ("eth0", "10.0.0.12/24")))
        assert best("shared_interface", seen) == "=eno1,eth0"
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=eno1,eth0"}).state == "proved"

    def test_names_that_cross_have_no_one_value(self) -> None:
        seen = view(
            host("n1", LO, ("eno1", "10.0.0.11/24"), ("eno2", "10.9.1.11/24")),
            host("n2", LO, ("eno2", "10.0.0.12/24"), ("eno1", "10.9.2.12/24")),
        )
        value = Values(seen).compute("shared_interface", {})
        assert value.text is None
        assert "n1: =eno1" in value.reason
        assert "n2: =eno2" in value.reason
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=eno1,eno2"}).state == "not-simulated"  # device 1 of both

    @pytest.mark.parametrize(("other", "told"), [("192.168.7.12", None), ("10.0.0.12", "=eno1,eth0")])
    def test_what_has_failed_already_is_not_proposed_again(self, other: str, told: str | None) -> None:
        event = Event(event="socket-connect-failed", origin="nccl", host="n1", peer=f"{other}<4000>")
        hosts, ranks = [], []
        for number, (name, interface, ip) in enumerate([("n1", "eno1", "10.0.0.11"), ("n2", "eth0", other)]):
            used = Interface(host=name, name=interface, addresses=(Address(ip),))
            hosts.append(host(name, LO, (interface, f"{ip}/24")))
            ranks.append(from_log(name, (interface, ip), rank=number, bootstrap_interface=used))
        seen = view(*hosts, ranks=tuple(ranks), events=(event,))
        assert Values(seen).compute("shared_interface", {}).text == told

    def test_one_log_only(self) -> None:
        rank = from_log("n1", ("eno1", "172.18.40.41"), ("veth25f2e72", "fe80::9c2%veth25f2e72"))
        seen = view(Host(name="n1"), ranks=(rank,), nhosts=2)
        value = Values(seen).compute("shared_interface", {})
        assert value.text == "=eno1"
        assert value.ask_for == ("ip addr (on the other hosts of the job)",)
        proof = prove(seen, {"NCCL_SOCKET_IFNAME": "=eno1"})
        assert proof.state == "proved"
        assert [part.state for part in proof.hosts] == ["proved", "not-simulated"]
        assert "NCCL 2.18.3 on n1 picks eno1 (172.18.40.41)" in proof.text
        assert "`ip addr` (on the other hosts)" in proof.text

    def test_the_default_route_and_then_speed_decide(self) -> None:
        two = ("eno1", "10.0.0.1/24"), ("eno2", "10.1.0.1/24")
        routed = host("n1", LO, *two, routes=(Route(host="n1", destination="default", interface="eno2"),))
        assert best("shared_interface", view(routed)) == "=eno2"
        plain = Host(
            name="n1", complete=frozenset({"interfaces"}), nccl_version=V218,
            interfaces=(iface("n1", *two[0], speed_mbps=1000), iface("n1", *two[1], speed_mbps=100000)),
        )  # fmt: skip
        assert best("shared_interface", view(plain)) == "=eno2"

    def test_what_is_down_or_link_local_or_virtual_is_no_answer(self) -> None:
        one = host("n1", LO, DOCKER, VETH, ("eth0", "169.254.3.4/16"))
        down = Host(name="n2", interfaces=(iface("n2", "eth0", "10.0.0.2/24", up=False),), complete=one.complete)
        value = Values(view(one, down)).compute("shared_interface", {})
        assert value.text is None
        assert value.ask_for == ("ip addr (on n[1-2])",)

    def test_a_pod_has_a_veth_and_nothing_else(self) -> None:
        pods = [
            Host(
                name=name, complete=frozenset({"interfaces"}), nccl_version=V218,
                interfaces=(iface(name, *LO), iface(name, "eth0", ip, kind="veth")),
            )
            for name, ip in (("p1", "10.244.1.7/24"), ("p2", "10.244.1.9/24"))
        ]  # fmt: skip
        assert best("shared_interface", view(*pods)) == "=eth0"
        assert prove(view(*pods), {"NCCL_SOCKET_IFNAME": "=eth0"}).state == "proved"

    def test_old_and_unknown_versions_get_the_plain_name_where_it_is_unambiguous(self) -> None:
        old = host("n1", LO, ("eth1", "10.0.0.1/24"), nccl_version=VersionRange.exact("2.4.8"))
        assert best("shared_interface", view(old)) == "eth1"
        assert best("shared_interface", view(host("n1", LO, ("eth1", "10.0.0.1/24"), nccl_version=None))) == "eth1"
        twin = host("n1", LO, ("eth1", "10.0.0.1/24"), ("eth10",), nccl_version=None)
        assert best("shared_interface", view(twin)) == "=eth1"

    def test_nothing_seen(self) -> None:
        value = Values(view(Host(name="n1"))).compute("shared_interface", {})
        assert (value.text, value.ask_for) == (None, ("ip addr (on n1)",))


BOND = ("bond0", "10.0.0.11/24")
FAR = host("n2", LO, ("bond0", "10.0.0.12/24"))


class TestInterfaceProofs:
    @pytest.mark.parametrize(
        ("wanted", "interfaces", "words"),
        [
            ("^lo,docker0", (LO, VETH, DOCKER, BOND), "picks veth5a3f1c2"),
            ("^lo,docker0", (LO, BOND, DOCKER, VETH), "sends data over veth5a3f1c2"),
            ("^docker", (LO, DOCKER, BOND), "picks lo (127.0.0.1)"),
            ("eth1", (LO, ("eth10", "10.7.0.1/24"), ("eth1", "10.0.0.11/24")), "picks eth10"),
            ("eth1", (LO, ("eth1", "10.0.0.11/24"), ("eth10", "10.7.0.1/24")), "also eth10"),
            ("=eth9", (LO, BOND), "no socket interface found"),
            ("eth0,^lo", (LO, BOND), "no socket interface found"),
            ("docker", (LO, DOCKER, BOND), "picks docker0"),
        ],
    )
    def test_traps_are_refuted(self, wanted: str, interfaces: tuple[Any, ...], words: str) -> None:
        proof = prove(view(host("n1", *interfaces), FAR), {"NCCL_SOCKET_IFNAME": wanted})
        assert proof.state == "refuted"
        assert words in proof.text

    def test_the_same_address_on_two_hosts_is_refuted(self) -> None:
        seen = view(host("n1", LO, ("br0", "192.168.0.1/24")), host("n2", LO, ("br0", "192.168.0.1/24")))
        assert "192.168.0.1" in prove(seen, {"NCCL_SOCKET_IFNAME": "=br0"}).text
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=br0"}).state == "refuted"
        more = view(*seen.job.hosts, nhosts=3)
        assert prove(more, {"NCCL_SOCKET_IFNAME": "=br0"}).state == "refuted"  # whatever the third host has

    def test_on_one_host_every_interface_will_do(self) -> None:
        seen = view(host("n1", LO, VETH), nhosts=1)
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=lo"}).state == "proved"

    def test_data_over_rdma_leaves_the_list_alone(self) -> None:
        rank = Rank(host="n1", rank=0, net="IB", nccl_version=V218)
        other = Rank(host="n2", rank=1, net="IB", nccl_version=V218)
        seen = view(host("n1", LO, BOND, VETH), FAR, ranks=(rank, other))
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "^lo,docker0"}).state == "proved"

    def test_networks_that_differ_leave_the_route_open(self) -> None:
        seen = view(host("n1", LO, ("eth0", "10.1.0.1/24")), host("n2", LO, ("eth0", "10.2.0.1/24")))
        proof = prove(seen, {"NCCL_SOCKET_IFNAME": "=eth0"})
        assert proof.state == "not-simulated"
        assert "`ip route get 10.2.0.1` (on n1)" in proof.text

    def test_a_host_without_interfaces(self) -> None:
        proof = prove(view(host("n1", LO, BOND), Host(name="n2")), {"NCCL_SOCKET_IFNAME": "=bond0"})
        assert proof.state == "not-simulated"
        assert "`ip addr` (on n2)" in proof.text

    def test_a_log_does_not_show_what_the_default_leaves_out(self) -> None:
        seen = view(Host(name="n1"), ranks=(from_log("n1", ("eno1", "10.0.0.1")),), nhosts=1)
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=eno1"}).state == "proved"
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "eno"}).state == "proved"
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "^lo"}).state == "not-simulated"  # docker0 may be there
        assert prove(seen, {"NCCL_SOCKET_IFNAME": "=eno2"}).state == "not-simulated"
        multi = view(Host(name="n1"), ranks=(from_log("n1", ("eno1", "10.0.0.1")),), nhosts=2)
        assert prove(multi, {"NCCL_SOCKET_IFNAME": "^docker"}).state == "refuted"  # lo is always there

    def test_removing_the_variable(self) -> None:
        setting = Setting(name="NCCL_SOCKET_IFNAME", host="n1", is_set=True, text="docker0")
        one = host("n1", LO, DOCKER, BOND, settings={"NCCL_SOCKET_IFNAME": setting})
        seen = view(one, FAR, settings=(setting,))
        assert prove(seen, unset=["NCCL_SOCKET_IFNAME"]).state == "proved"
        assert prove(seen, {"NCCL_SOCKET_FAMILY": "AF_INET"}).state == "refuted"

    def test_other_variables_are_not_simulated(self) -> None:
        proof = prove(view(host("n1", LO, BOND)), {"NCCL_IB_TIMEOUT": "22"})
        assert (proof.state, proof.text) == ("not-simulated", "the effect of NCCL_IB_TIMEOUT is not simulated")
        mixed = prove(view(host("n1", LO, BOND)), {"NCCL_IB_TIMEOUT": "22", "NCCL_SOCKET_IFNAME": "=bond0"})
        assert mixed.state == "not-simulated"
        assert "picks bond0" in mixed.text
        assert prove(view(host("n1", LO, BOND))).state == "not-simulated"


def roce(name: str, *ips: str | None, hca: str = "mlx5_0", whole: bool = True, version: str = "2.18.3") -> Host:
    """A host whose GID table has the link-local pair, then v1 and v2 of each address; None leaves a pair out."""
    rows: list[tuple[int, str, Any, str | None]] = [(0, LL, "RoCE v1", None), (1, LL, "RoCE v2", None)]
    for number, ip in enumerate(ips, start=1):
        if ip:
            mapped = f"::ffff:{ip}"
            rows += [(2 * number, mapped, "RoCE v1", ip), (2 * number + 1, mapped, "RoCE v2", ip)]
    gids = tuple(Gid(host=name, hca=hca, port=1, index=i, address=a, type=t, ip=ip) for i, a, t, ip in rows)
    port = Port(
        host=name, hca=hca, number=1, state="active", link_layer="Ethernet", rate_gbps=100.0,
        gids=gids, gids_complete=whole,
    )  # fmt: skip
    return Host(name=name, hcas=(Hca(host=name, name=hca, ports=(port,)),), nccl_version=VersionRange.exact(version))


class TestGidIndex:
    def test_the_same_on_all_hosts(self) -> None:
        seen = view(roce("n1", "10.0.0.1"), roce("n2", "10.0.0.2"))
        value = Values(seen).compute("gid_index", {})
        assert (value.text, value.ask_for) == ("3", ())
        assert prove(seen, {"NCCL_IB_GID_INDEX": "3"}).state == "proved"

    def test_no_one_index_serves_all(self) -> None:
        seen = view(roce("n1", "10.0.0.1"), roce("n2", None, "10.0.0.2"))
        value = Values(seen).compute("gid_index", {})
        assert value.text is None
        assert "n1 mlx5_0: 3" in value.reason
        assert "n2 mlx5_0: 5" in value.reason
        proof = prove(seen, {"NCCL_IB_GID_INDEX": "3"})  # the trap: right on one host, empty on the other
        assert proof.state == "refuted"
        assert "GID 3 on n2 mlx5_0, which is empty" in proof.text

    def test_unsetting_it_by_version(self) -> None:
        setting = Setting(name="NCCL_IB_GID_INDEX", is_set=True, text="3")
        hosts = [roce("n1", "10.0.0.1"), roce("n2", None, "10.0.0.2")]
        old = prove(view(*hosts, settings=(setting,)), unset=["NCCL_IB_GID_INDEX"])
        assert old.state == "refuted"
        assert "GID 0" in old.text
        new = [roce("n1", "10.0.0.1", version="2.21.5"), roce("n2", None, "10.0.0.2", version="2.21.5")]
        proof = prove(view(*new, settings=(setting,)), unset=["NCCL_IB_GID_INDEX"])
        assert proof.state == "proved"
        assert "takes GID 5 on n2 mlx5_0, 10.0.0.2, RoCE v2" in proof.text

    @pytest.mark.parametrize(("index", "words"), [("0", "link-local"), ("2", "RoCE v1"), ("9", "empty")])
    def test_bad_entries_are_refuted(self, index: str, words: str) -> None:
        proof = prove(view(roce("n1", "10.0.0.1"), nhosts=1), {"NCCL_IB_GID_INDEX": index})
        assert proof.state == "refuted"
        assert words in proof.text

    def test_hosts_and_entries_that_were_not_seen(self) -> None:
        seen = view(roce("n1", "10.0.0.1"), nhosts=2)
        value = Values(seen).compute("gid_index", {})
        assert (value.text, value.ask_for) == ("3", ("show_gids (on the other hosts of the job)",))
        proof = prove(seen, {"NCCL_IB_GID_INDEX": "3"})
        assert proof.state == "proved"
        assert "not simulated: the GID tables of the other hosts were not seen" in proof.text
        partly = prove(view(roce("n1", "10.0.0.1", whole=False), nhosts=1), {"NCCL_IB_GID_INDEX": "9"})
        assert partly.state == "not-simulated"
        assert Values(view(Host(name="n1"))).compute("gid_index", {}).ask_for == ("show_gids (on n1)",)

    def test_infiniband_does_not_rest_on_it(self) -> None:
        port = Port(host="n1", hca="mlx5_0", number=1, state="active", link_layer="InfiniBand")
        seen = view(Host(name="n1", hcas=(Hca(host="n1", name="mlx5_0", ports=(port,)),)), nhosts=1)
        assert prove(seen, {"NCCL_IB_GID_INDEX": "3"}).state == "proved"


def ib(name: str, *ports: tuple[str, float, str], layer: Any = "InfiniBand") -> Host:  # noqa: ANN401
    hcas = tuple(
        Hca(host=name, name=hca, ports=(Port(
            host=name, hca=hca, number=1, state=state, rate_gbps=rate, link_layer=layer,  # type: ignore[arg-type]
        ),))
        for hca, rate, state in ports
    )  # fmt: skip
    return Host(name=name, hcas=hcas, nccl_version=V218)


class TestOtherValues:
    def test_devices_of_the_highest_rate(self) -> None:
        fast = ("mlx5_10", 200.0, "active"), ("mlx5_2", 200.0, "active")
        ports = (*fast, ("mlx5_0", 25.0, "active"), ("mlx5_1", 200.0, "down"))
        assert best("hca_list", view(ib("n1", *ports), ib("n2", *ports))) == "=mlx5_2,mlx5_10"
        assert best("hca_list", view(ib("n1", ports[0]), ib("n2", ports[1]))) is None
        assert best("hca_list", view(ib("n1", ports[3]))) is None
        one = ib("n1", ports[0])
        assert best("hca_list", view(one, ib("n2", ports[1])), h=one) == "=mlx5_10"

    @pytest.mark.parametrize(
        ("text", "exact"), [("mlx5_1", "=mlx5_1"), ("^mlx5_1:1,", "^=mlx5_1:1"), ("=mlx5_0", "=mlx5_0"), (":1", None)]
    )
    def test_the_same_devices_by_exact_name(self, text: str, exact: str | None) -> None:
        assert best("hca_exact", view(), s=Setting(name="NCCL_IB_HCA", is_set=True, text=text)) == exact

    @pytest.mark.parametrize(
        ("drivers", "module"),
        [
            (("535.104.05",), "nvidia_peermem"),
            (("450.80.02",), "nv_peer_mem"),
            ((), "nvidia_peermem"),
            (("450.1", "535.1"), None),
        ],
    )
    def test_the_module_by_driver(self, drivers: tuple[str, ...], module: str | None) -> None:
        hosts = [Host(name=f"n{i}", driver=driver) for i, driver in enumerate(drivers)]
        assert best("peermem_module", view(*hosts)) == module

    def test_shared_memory_grows_with_the_gpus(self) -> None:
        gpus = tuple(Gpu(host="n1", index=i) for i in range(8))
        assert best("shm_size", view(Host(name="n1", gpus=gpus))) == "8g"
        assert best("shm_size", view()) == "1g"

    def test_processes_for_the_slots(self) -> None:
        launch = Launch(program="mpirun", text="", np=8, hosts=(LaunchHost("g1", 8), LaunchHost("g2", 8)))
        assert best("np", view(launches=(launch,))) == "16"
        bare = Launch(program="mpirun", text="", hosts=(LaunchHost("g1"),))
        assert best("np", view(launches=(bare,))) is None

    def test_variables(self) -> None:
        setting = Setting(name="NCCL_IB_TIMEOUT", host="n1", is_set=True, text="300")
        assert best("default_for", view(host("n1", LO)), s=setting) == "18"
        assert best("variable_suggestion", view(), s=Setting(name="NCCL_PROTOS")) == "NCCL_PROTO"
        assert best("variable_suggestion", view(), s=Setting(name="NCCL_TIMEOUT")) is None

    def test_every_value_says_why_on_an_empty_job(self) -> None:
        for name in registry():
            value = Values(view()).compute(name, {})
            assert value.reason
            assert value.text is None or value.ask_for

    def test_a_listed_roce_device_is_the_one_that_counts(self) -> None:
        one = roce("n1", "10.0.0.1")
        slow = roce("n1", None, "192.168.0.1", hca="bnxt_re0")
        both = Host(name="n1", hcas=(*one.hcas, *slow.hcas), nccl_version=V221)
        rank = Rank(host="n1", net_devices=(NetDevice(index=0, name="mlx5_0", port=1, link_layer="RoCE"),))
        assert best("gid_index", view(both, nhosts=1)) is None
        assert best("gid_index", view(both, ranks=(rank,), nhosts=1)) == "3"


class TestListedAssignments:
    """``env = { "*" = ... }``: a fix that gives all ranks what the launch line gave one."""

    def test_each_variable_of_the_list_is_one_of_the_fix(self) -> None:
        line = b"NCCL_DEBUG=INFO NCCL_IB_HCA='=mlx5_0,mlx5_1' mpirun -np 2 -H n1:1,n2:1 ./train\n"
        report = diagnose([TextSource.of_bytes("job.txt", line)])
        fix = next(f for f in report.findings if f.name == "env-not-propagated").fixes[0]
        assert fix.env == {"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "=mlx5_0,mlx5_1"}
        assert "-x NCCL_DEBUG=INFO" in fix.commands["mpirun"]
