"""Proofs of NCCL_IB_HCA, NCCL_IB_DISABLE and NCCL_NET_GDR_LEVEL, with fixes that must not pass."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag.facts.model import Address, Gpu, Hca, Host, Interface, Job, KernelModule, Port, Setting, TopoLink
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.prove import prove

V218 = VersionRange.exact("2.18.3")
WHOLE = frozenset({"ibstat", "interfaces", "lsmod", "topo_m"})


def hca(host: str, name: str, rate: float = 400, layer: Any = "InfiniBand", state: Any = "active") -> Hca:  # noqa: ANN401
    port = Port(host=host, hca=name, number=1, state=state, link_layer=layer, rate_gbps=rate)
    return Hca(host=host, name=name, ports=(port,))


def host(name: str, *hcas: Hca, **fields: Any) -> Host:  # noqa: ANN401
    eth = Interface(host=name, name="eth0", up=True, running=True, addresses=(Address("10.0.0.1", 24),))
    defaults = {"interfaces": (eth,), "complete": WHOLE, "nccl_version": V218}
    return Host(name=name, hcas=hcas, **(defaults | fields))


def view(*hosts: Host, **settings: str) -> View:
    known = tuple(Setting(name=name, text=text, is_set=True) for name, text in settings.items())
    return View(Job(hosts=hosts, nhosts=len(hosts), settings=known))


def hcas(where: str, *names: str) -> list[Hca]:
    return [hca(where, name) for name in names]


class TestDeviceList:
    def test_an_exact_list_on_all_hosts(self) -> None:
        seen = view(
            host("n1", *hcas("n1", "mlx5_0", "mlx5_1"), hca("n1", "mlx5_bond_0", 25, "Ethernet")),
            host("n2", *hcas("n2", "mlx5_0", "mlx5_1")),
        )
        proof = prove(seen, {"NCCL_IB_HCA": "=mlx5_0,mlx5_1"})
        assert proof.state == "proved"
        assert "NCCL 2.18.3 on n[1-2] takes mlx5_0:1, mlx5_1:1" in proof.text

    @pytest.mark.parametrize(
        ("wanted", "words"),
        [
            ("mlx5_1", "takes mlx5_10 too"),
            ("^mlx5_1", "leaves out mlx5_10 too"),
            ("mlx5", "InfiniBand and RoCE ports together"),
            ("=mlx5_0,mlx5_11", "mlx5_11 with 25 Gbit/s"),
            ("=mlx4_0", "left without an RDMA port"),
            ("mlx5_0 ", "left without an RDMA port"),
            ('"mlx5_0"', "left without an RDMA port"),
            ("=mlx5_3", "left without an RDMA port"),
        ],
    )
    def test_traps(self, wanted: str, words: str) -> None:
        names = ("mlx5_0", "mlx5_1", "mlx5_10")
        slow, roce = hca("n1", "mlx5_11", 25), hca("n1", "mlx5_bond_0", 400, "Ethernet")
        down = hca("n1", "mlx5_3", state="down")
        proof = prove(view(host("n1", *hcas("n1", *names), slow, roce, down)), {"NCCL_IB_HCA": wanted})
        assert proof.state == "refuted"
        assert words in proof.text

    def test_right_here_and_wrong_on_the_other_host(self) -> None:
        seen = view(host("n1", *hcas("n1", "mlx5_0", "mlx5_1")), host("n2", *hcas("n2", "mlx5_2")))
        proof = prove(seen, {"NCCL_IB_HCA": "=mlx5_0"})
        assert proof.state == "refuted"
        assert proof.text.startswith("with this, NCCL 2.18.3 on n2 is left without")

    def test_infiniband_here_and_roce_there(self) -> None:
        seen = view(
            host("n1", *hcas("n1", "mlx5_0", "mlx5_2")),
            host("n2", hca("n2", "mlx5_0", 400, "Ethernet"), hca("n2", "mlx5_2")),
        )
        proof = prove(seen, {"NCCL_IB_HCA": "=mlx5_0"})
        assert proof.state == "refuted"
        assert "n1 takes InfiniBand ports and n2 RoCE ones" in proof.text

    def test_what_changes_nothing_is_no_fix(self) -> None:
        proof = prove(view(host("n1", *hcas("n1", "mlx5_0", "mlx5_1"))), {"NCCL_IB_HCA": "=mlx5_0,mlx5_1"})
        assert proof.state == "refuted"
        assert "nothing changes" in proof.text

    @pytest.mark.parametrize("missing", [{"complete": frozenset({"interfaces"})}, {"hcas": ()}])
    def test_devices_that_were_not_seen(self, missing: dict[str, Any]) -> None:
        whole = host("n1", *hcas("n1", "mlx5_0", "mlx5_1"))
        other = host("n2", *missing.pop("hcas", hcas("n2", "mlx5_0", "mlx5_1")), **missing)
        proof = prove(view(whole, other), {"NCCL_IB_HCA": "=mlx5_0"})
        assert proof.state == "not-simulated"
        assert proof.ask_for == ("ibstat (on n2)",)

    def test_a_port_of_unknown_state(self) -> None:
        proof = prove(view(host("n1", hca("n1", "mlx5_0", state=None))), {"NCCL_IB_HCA": "=mlx5_0"})
        assert proof.state == "not-simulated"
        assert "state" in proof.text

    def test_a_plugin_decides_for_itself(self) -> None:
        seen = view(host("n1", *hcas("n1", "mlx5_0", "mlx5_1")), NCCL_NET_PLUGIN="aws-ofi")
        assert prove(seen, {"NCCL_IB_HCA": "=mlx5_0"}).state == "not-simulated"


class TestSwitch:
    def test_without_the_switch_rdma_is_used(self) -> None:
        seen = view(host("n1", *hcas("n1", "mlx5_0")), NCCL_IB_DISABLE="1")
        proof = prove(seen, unset=("NCCL_IB_DISABLE",))
        assert proof.state == "proved"
        assert "takes mlx5_0:1" in proof.text

    def test_without_an_active_port_nothing_is_won(self) -> None:
        seen = view(host("n1", hca("n1", "mlx5_0", state="down")), NCCL_IB_DISABLE="1")
        assert prove(seen, unset=("NCCL_IB_DISABLE",)).state == "refuted"

    def test_another_variable_keeps_rdma_off(self) -> None:
        seen = view(host("n1", *hcas("n1", "mlx5_0")), NCCL_IB_DISABLE="1", NCCL_NET="Socket")
        proof = prove(seen, unset=("NCCL_IB_DISABLE",))
        assert proof.state == "refuted"
        assert "still does not use RDMA" in proof.text

    def test_the_switch_itself_leads_to_sockets_unless_ib_is_asked_for(self) -> None:
        one = host("n1", *hcas("n1", "mlx5_0"))
        assert prove(view(one), {"NCCL_IB_DISABLE": "1"}).state == "proved"
        assert prove(view(one, NCCL_NET="IB"), {"NCCL_IB_DISABLE": "1"}).state == "refuted"

    def test_a_network_by_name(self) -> None:
        one = host("n1", *hcas("n1", "mlx5_0"))
        assert prove(view(one), {"NCCL_NET": "Socket"}).state == "proved"
        assert prove(view(one, NCCL_NET="Socket"), {"NCCL_NET": "IB"}).state == "proved"
        assert prove(view(one, NCCL_NET="Socket"), unset=("NCCL_NET",)).state == "proved"
        assert prove(view(one, NCCL_IB_DISABLE="1"), {"NCCL_NET": "IB"}).state == "refuted"
        assert prove(view(one), {"NCCL_NET": "AWS Libfabric"}).state == "not-simulated"

    def test_a_name_that_is_taken_away_leaves_any_network(self) -> None:
        plain = host("n1", hca("n1", "mlx5_0", state="down"))
        assert prove(view(plain, NCCL_NET="nosuch"), unset=("NCCL_NET",)).state == "proved"
        assert prove(view(plain, NCCL_NET="Socket"), unset=("NCCL_NET",)).state == "refuted"


class TestGdrLevel:
    MODULE = (KernelModule(host="n1", name="nvidia_peermem"),)

    @staticmethod
    def far(level: str, **fields: Any) -> Host:  # noqa: ANN401
        link = TopoLink(host="n1", a="GPU0", b="mlx5_0", level=level)
        return host("n1", *hcas("n1", "mlx5_0"), **({"links": (link,), "modules": TestGdrLevel.MODULE} | fields))

    @pytest.mark.parametrize(
        ("distance", "level", "state"),
        [
            ("PHB", "PHB", "proved"),
            ("NODE", "PHB", "proved"),
            ("SYS", "PHB", "refuted"),
            ("SYS", "SYS", "proved"),
            ("PHB", "3", "proved"),
            ("PHB", "2", "refuted"),
            ("PHB", "phb", "refuted"),
            ("NODE", "NODE", "refuted"),
            ("PHB", "PHB ", "refuted"),
            ("PHB", "LOC", "proved"),
        ],
    )
    def test_levels(self, distance: str, level: str, state: str) -> None:
        assert prove(view(self.far(distance)), {"NCCL_NET_GDR_LEVEL": level}).state == state

    def test_no_level_helps_without_a_module(self) -> None:
        proof = prove(view(self.far("PHB", modules=(), open_kernel_module=False)), {"NCCL_NET_GDR_LEVEL": "PHB"})
        assert proof.state == "refuted"
        assert "no peer memory module is loaded" in proof.text

    def test_what_was_not_seen_is_asked_for(self) -> None:
        proof = prove(view(self.far("PHB", links=())), {"NCCL_NET_GDR_LEVEL": "PHB"})
        assert (proof.state, proof.ask_for) == ("not-simulated", ("nvidia-smi topo -m (on n1)",))
        proof = prove(view(self.far("PHB", modules=(), complete=WHOLE - {"lsmod"})), {"NCCL_NET_GDR_LEVEL": "PHB"})
        assert (proof.state, proof.ask_for) == ("not-simulated", ("lsmod (on n1)",))

    def test_a_limit_that_is_taken_away(self) -> None:
        seen = view(self.far("PXB"), NCCL_NET_GDR_LEVEL="PIX")
        assert prove(seen, unset=("NCCL_NET_GDR_LEVEL",)).state == "proved"
        seen = view(self.far("PHB"), NCCL_NET_GDR_LEVEL="PIX")
        assert prove(seen, unset=("NCCL_NET_GDR_LEVEL",)).state == "refuted"

    def test_reading_and_dma_buf(self) -> None:
        old = (Gpu(host="n1", index=0, compute_capability="7.0"),)
        off = view(self.far("PIX", gpus=old), NCCL_NET_GDR_READ="0")
        assert prove(off, unset=("NCCL_NET_GDR_READ",)).state == "not-simulated"  # NVLink was not seen
        newer = (Gpu(host="n1", index=0, compute_capability="9.0"),)
        v219 = VersionRange.exact("2.19.3")
        proof = prove(view(self.far("PIX", gpus=newer, nccl_version=v219), NCCL_NET_GDR_READ="0"),
                      unset=("NCCL_NET_GDR_READ",))  # fmt: skip
        assert proof.state == "proved"
        assert "reads GPU memory by GPUDirect RDMA with mlx5_0" in proof.text
        nothing = self.far("PIX", modules=(), open_kernel_module=False)
        assert prove(view(nothing, NCCL_DMABUF_ENABLE="0"), unset=("NCCL_DMABUF_ENABLE",)).state == "refuted"
        assert prove(view(self.far("PIX")), {"NCCL_DMABUF_ENABLE": "0"}).state == "not-simulated"


class TestLocalTransports:
    @staticmethod
    def pair(level: str, **fields: Any) -> Host:  # noqa: ANN401
        link = TopoLink(host="n1", a="GPU0", b="GPU1", level=level)
        return host("n1", **({"links": (link,), "cpu_arch": "x86_64", "cpu_vendor": "GenuineIntel"} | fields))

    @pytest.mark.parametrize(
        ("level", "settings", "env", "unset", "state", "words"),
        [
            ("NV12", {}, {"NCCL_P2P_DISABLE": "1"}, (), "proved", "uses SHM between 1 pairs of GPUs"),
            ("SYS", {}, {"NCCL_P2P_DISABLE": "1"}, (), "refuted", "SHM between 1 pairs of GPUs, as before"),
            ("NV12", {"NCCL_P2P_DISABLE": "1"}, {}, ("NCCL_P2P_DISABLE",), "proved", "uses P2P"),
            ("SYS", {"NCCL_P2P_LEVEL": "NVL"}, {}, ("NCCL_P2P_LEVEL",), "refuted", "SYS is beyond"),
            ("SYS", {}, {"NCCL_P2P_LEVEL": "SYS"}, (), "proved", "uses P2P"),
            ("SYS", {}, {"NCCL_P2P_LEVEL": "sys"}, (), "refuted", "as before"),
            ("SYS", {}, {"NCCL_SHM_DISABLE": "1"}, (), "proved", "uses NET"),
            ("PIX", {}, {"NCCL_SHM_DISABLE": "1"}, (), "not-simulated", "P2P between 1 pairs of GPUs as before"),
        ],
    )
    def test_changes(
        self, level: str, settings: dict[str, str], env: dict[str, str], unset: tuple[str, ...], state: str, words: str
    ) -> None:
        proof = prove(view(self.pair(level), **settings), env, unset)
        assert proof.state == state
        assert words in proof.text

    def test_what_was_not_seen(self) -> None:
        proof = prove(view(self.pair("NV12", links=())), {"NCCL_P2P_DISABLE": "1"})
        assert (proof.state, proof.ask_for) == ("not-simulated", ("nvidia-smi topo -m (on n1)",))
        unseen = self.pair("SYS", cpu_vendor=None)
        proof = prove(view(unseen), {"NCCL_SHM_DISABLE": "1"})
        assert (proof.state, proof.ask_for) == ("not-simulated", ("uname -a (on n1)",))


class TestRails:
    def test_crossing(self) -> None:
        two = host("n1", *hcas("n1", "mlx5_0", "mlx5_1"))
        proof = prove(view(two), {"NCCL_CROSS_NIC": "0"})
        assert proof.state == "proved"
        assert "stay on one NIC number" in proof.text
        assert prove(view(two), {"NCCL_CROSS_NIC": "2"}).state == "refuted"
        assert prove(view(host("n1", *hcas("n1", "mlx5_0"))), {"NCCL_CROSS_NIC": "0"}).state == "refuted"
        assert prove(view(host("n1", complete=frozenset())), {"NCCL_CROSS_NIC": "0"}).state == "not-simulated"

    def test_without_a_plugin(self) -> None:
        one = host("n1", *hcas("n1", "mlx5_0"))
        assert prove(view(one, NCCL_NET_PLUGIN="aws-ofi"), {"NCCL_NET_PLUGIN": "none"}).state == "proved"
        assert prove(view(one), {"NCCL_NET_PLUGIN": "aws-ofi"}).state == "not-simulated"
