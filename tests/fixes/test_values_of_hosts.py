"""Values of RoCE classes, address families, devices of UCX, sizes of HCCL; and variables that fixes name."""

from __future__ import annotations

from typing import Any

import pytest

from ncdiag import catalogue
from ncdiag.base.patterns import lazy_regex
from ncdiag.diagnose import diagnose
from ncdiag.facts.model import Address, Event, Hca, Host, Interface, Job, Port, Setting
from ncdiag.facts.view import View
from ncdiag.fixes.values import Value, Values
from ncdiag.nccl import environment
from ncdiag.report import model
from ncdiag.suspects.trials import is_only_output
from ncdiag.text.sources.files import TextSource

_ASSIGNED = lazy_regex(r"(?<![\w.])(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=[^\s;,]")


def value(name: str, *hosts: Host, **fields: Any) -> Value:  # noqa: ANN401
    return Values(View(Job(hosts=hosts, **{"nhosts": len(hosts), **fields}))).compute(name, {})


def host(name: str, *addresses: str, **fields: Any) -> Host:  # noqa: ANN401
    interfaces = tuple(
        Interface(host=name, name=f"eth{number}", up=True, running=True, addresses=(Address(ip, 24),), **fields)
        for number, ip in enumerate(addresses)
    )
    return Host(name=name, interfaces=interfaces, complete=frozenset({"interfaces"}))


def cabled(name: str, **addresses: str) -> Host:
    """A host with one active port for each device, whose interface has the address."""
    interfaces = tuple(
        Interface(host=name, name=f"eth{number}", hca=device, up=True, running=True, addresses=(Address(ip, 24),))
        for number, (device, ip) in enumerate(addresses.items())
    )
    ports = {device: Port(host=name, hca=device, number=1, state="active", rate_gbps=200.0) for device in addresses}
    hcas = tuple(Hca(host=name, name=device, ports=(port,)) for device, port in ports.items())
    return Host(name=name, interfaces=interfaces, hcas=hcas, complete=frozenset({"interfaces"}))


class TestTrafficClass:
    LOSSLESS = {"trust": "dscp", "pfc": (3,), "dscp_default": True}  # noqa: RUF012

    def test_the_only_priority_with_flow_control(self) -> None:
        found = value("traffic_class", host("n1", "10.0.0.1", **self.LOSSLESS), host("n2", "10.0.0.2", **self.LOSSLESS))
        assert (found.text, found.ask_for) == ("104", ())
        assert "DSCP 26 to priority 3" in found.reason

    @pytest.mark.parametrize("other", [{"trust": "pcp"}, {"pfc": ()}, {"pfc": (4,)}, {"dscp_default": False}])
    def test_no_value_where_the_cards_differ(self, other: dict[str, Any]) -> None:
        differs = host("n2", "10.0.0.2", **{**self.LOSSLESS, **other})
        assert value("traffic_class", host("n1", "10.0.0.1", **self.LOSSLESS), differs).text is None

    def test_no_value_without_the_settings_of_a_card(self) -> None:
        found = value("traffic_class", host("n1", "10.0.0.1"))
        assert (found.text, found.ask_for) == (None, ("mlnx_qos -i <interface> (on every host)",))


class TestAddresses:
    def test_the_family_that_all_hosts_have(self) -> None:
        assert value("shared_family", host("n1", "10.0.0.1", "fd00::1"), host("n2", "fd00::2")).text == "AF_INET6"
        assert value("shared_family", host("n1", "10.0.0.1", "fd00::1"), host("n2", "10.0.0.2")).text == "AF_INET"

    def test_no_family_that_one_host_lacks_or_of_local_addresses(self) -> None:
        assert value("shared_family", host("n1", "10.0.0.1"), host("n2", "fd00::2")).text is None
        assert value("shared_family", host("n1", "fe80::1"), host("n2", "fd00::2")).text is None
        assert value("shared_family", host("n1", "10.0.0.1"), Host(name="n2")).ask_for == ("ip -br addr (on n2)",)

    def test_each_host_has_its_own_address(self) -> None:
        assert value("own_address", host("n1", "10.0.0.1")).text == "10.0.0.1"
        found = value("own_address", host("n1", "10.0.0.1"), host("n2", "10.0.0.2"))
        assert (found.text, found.ask_for) == (None, ())
        assert "(n1: 10.0.0.1, n2: 10.0.0.2)" in found.reason
        assert value("own_address", Host(name="n1")).ask_for == ("ip -br addr (on every host)",)

    @pytest.mark.parametrize(("text", "bare"), [("[fd00::1]", "fd00::1"), ("fd00::1", None), ("[head]", None)])
    def test_a_master_address_without_brackets(self, text: str, bare: str | None) -> None:
        assert value("bare_master_address", settings=(Setting(name="MASTER_ADDR", text=text),)).text == bare


class TestDevices:
    def test_the_devices_of_ucx_with_their_ports(self) -> None:
        ports = [Port(host="n1", hca=f"mlx5_{n}", number=1 + n, state="active", rate_gbps=400.0) for n in (0, 1)]
        hcas = tuple(Hca(host="n1", name=port.hca, ports=(port,)) for port in ports)
        assert value("ucx_devices", Host(name="n1", hcas=hcas)).text == "mlx5_0:1,mlx5_1:2"

    def test_no_device_without_an_active_port(self) -> None:
        down = Port(host="n1", hca="mlx5_0", number=1, state="down", rate_gbps=400.0)
        found = value("ucx_devices", Host(name="n1", hcas=(Hca(host="n1", name="mlx5_0", ports=(down,)),)))
        assert (found.text, found.ask_for) == (None, ("ibstat (on every host)",))


class TestConnectedDevices:
    """Two machines that are cabled directly: one card of each pair is in a network that the other host lacks."""

    def test_only_the_devices_in_networks_of_all_hosts(self) -> None:
        one = cabled("n1", mlx5_0="10.0.0.1", mlx5_1="10.0.1.1", mlx5_2="10.0.2.1")
        other = cabled("n2", mlx5_0="10.0.0.2", mlx5_1="10.0.9.2", mlx5_2="10.0.2.2")
        found = value("connected_devices", one, other)
        assert (found.text, found.ask_for) == ("=mlx5_0,mlx5_2", ())
        assert "(mlx5_1 left out)" in found.reason

    def test_other_names_are_set_on_each_host(self) -> None:
        found = value("connected_devices", cabled("n1", mlx5_0="10.0.0.1"), cabled("n2", mlx5_1="10.0.0.2"))
        assert found.text is None
        assert "n1: =mlx5_0, n2: =mlx5_1" in found.reason

    def test_no_value_without_a_network_of_both_or_their_addresses(self) -> None:
        one = cabled("n1", mlx5_0="10.0.0.1")
        assert value("connected_devices", one, cabled("n2", mlx5_0="10.0.1.2")).text is None
        assert value("connected_devices", one, cabled("n2", mlx5_0="169.254.0.2")).text is None
        assert value("connected_devices", one).ask_for == ("show_gids; ip -br addr (on every host)",)


class TestSizesOfHccl:
    def test_the_largest_size_that_an_operator_asks_for(self) -> None:
        events = tuple(
            Event(event="hccl-buffer-too-small", origin="hccl", fields={"needed_mb": size}) for size in (409, 611)
        )
        assert value("hccl_buffer_size", events=events).text == "611"

    def test_no_size_without_the_message(self) -> None:
        assert value("hccl_buffer_size").text is None
        assert value("longest_wait").text is None


def offered(text: str, name: str) -> list[model.Fix]:
    report = diagnose([TextSource.of_bytes("job.txt", text.encode())])
    answers: list[model.Finding | model.Suspect] = [*report.findings, *report.suspects]
    return [fix for each in answers if each.name == name for fix in each.fixes]


def test_a_suspect_names_the_variable_whose_value_only_a_finding_has() -> None:
    text = (
        "The job on two hosts hangs at init. It is using the loopback, lo 127.0.0.1\nWe exclude virbr0\n"
        "NCCL_SOCKET_IFNAME=^docker0 did not help.\n"
    )
    fixes = [fix for fix in offered(text, "socket-exclude-drops-builtin") if fix.kind == "env"]
    assert [fix.env for fix in fixes] == [{"NCCL_SOCKET_IFNAME": None}]
    assert all("Paste " in fix.text and "\0" not in fix.text and not fix.commands for fix in fixes)


CHOSEN = """\
n{host}:71:71 [0] NCCL INFO Bootstrap : Using {name}:{ip}<0>
n{host}:71:90 [0] NCCL INFO NET/Socket : Using [0]{name}:{ip}<0> [1]bond0:10.4.0.{host}<0>
"""
REFUSED = "n1:71:90 [0] NCCL WARN socketStartConnect: Connect to 10.9.0.2<39151> failed : No route to host\n"


@pytest.mark.parametrize(("told", "gloo"), [("vLLM over two hosts does not start.\n\n", True), ("", False)])
def test_gloo_gets_the_same_interface_where_it_is_in_use(told: str, gloo: bool) -> None:
    log = CHOSEN.format(host=1, name="eno1", ip="10.7.0.1") + CHOSEN.format(host=2, name="eno1", ip="10.8.0.2")
    fixes = offered(told + log + REFUSED, "socket-nodes-different-subnet")
    named = [fix.env for fix in fixes if "NCCL_SOCKET_IFNAME" in fix.env]
    assert named
    assert all(("GLOO_SOCKET_IFNAME" in env) is gloo for env in named)
    plain = [str(env["NCCL_SOCKET_IFNAME"]).lstrip("=") for env in named]
    assert not gloo or [str(env["GLOO_SOCKET_IFNAME"]) for env in named] == plain


def test_a_known_defect_is_avoided_by_its_setting() -> None:
    told = "The results of all-gather are wrong while one NVLink is down, with NCCL {version} on V100.\n"
    avoided = [fix.env for fix in offered(told.format(version="2.10.3"), "version-known-defect") if fix.env]
    assert avoided == [{"NCCL_PROTO": "^LL128"}]
    assert {"NCCL_PROTO": "^LL128"} not in [
        fix.env for fix in offered(told.format(version="2.20.5"), "version-known-defect")
    ]


def test_a_variable_that_the_text_of_a_fix_assigns_is_set_by_a_fix_of_the_rule() -> None:
    """So that it is written for the launcher of the input, and a value that is set already is not offered."""
    known, loose = environment.variables(), []
    for rule in catalogue.rules(()):
        held = {name for fix in rule.fixes for name in (*fix.env, *fix.unset)}
        named = {found["name"] for fix in rule.fixes for found in _ASSIGNED.finditer(fix.text)}
        loose += [(rule.name, name) for name in named - held if name in known and not is_only_output(name)]
    assert not loose
