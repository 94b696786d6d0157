"""The line that opens a packet filter is for the tool that manages it, and for the network of the hosts."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource

FAILED = """
n1:20:31 [0] NCCL INFO Bootstrap : Using bond0:10.8.3.21<0>
n1:20:31 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 1000 - Init START
n2:20:31 [0] NCCL INFO Bootstrap : Using bond0:10.8.3.22<0>
n2:20:31 [0] NCCL INFO comm 0x7e rank 1 nranks 2 cudaDev 0 busId 1000 - Init START
n1:20:31 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.3.22<45871> failed : Connection timed out
n1:20:31 [0] NCCL INFO bootstrap.cc:285 -> 6
"""
FILTERS = {
    "iptables": "root@n2:~# iptables -S\n-P INPUT DROP\n-A INPUT -s {net} -p tcp -m tcp --dport 22 -j ACCEPT\n",
    "ufw": (
        "root@n2:~# ufw status verbose\nStatus: active\n"
        "Default: deny (incoming), allow (outgoing), disabled (routed)\n\n"
        "To                         Action      From\n--                         ------      ----\n"
        "22/tcp                     ALLOW IN    {net}\n"
    ),
    "firewalld": (
        "root@n2:~# firewall-cmd --list-all\npublic (active)\n  target: default\n  icmp-block-inversion: no\n"
        "  interfaces: bond0\n  sources: \n  services: ssh\n  ports: \n  rich rules: \n"
        '\trule family="ipv4" source address="{net}" service name="ssh" accept\n'
    ),
}
ROWS = (
    "Chain INPUT (policy ACCEPT)\ntarget     prot opt source               destination\n"
    "ACCEPT     tcp  --  {net}  anywhere             tcp dpt:ssh\n"
    "{last}     all  --  anywhere             anywhere             reject-with icmp-host-prohibited\n\n"
)
FILTERS["nft"] = (
    "root@n2:~# nft list ruleset\ntable inet hostguard {\n\tchain incoming {\n"
    '\t\ttype filter hook input priority filter; policy drop;\n\t\tiif "lo" accept\n'
    "\t\tip saddr {net} tcp dport 22 accept\n\t}\n}\n"
)
LINES = {
    "nft": "sudo nft insert rule inet hostguard incoming ip saddr 10.8.0.0/16 meta l4proto tcp accept",
    "iptables": "sudo iptables -I INPUT -s 10.8.0.0/16 -p tcp -j ACCEPT",
    "ufw": "sudo ufw prepend allow proto tcp from 10.8.0.0/16",
    "firewalld": "sudo firewall-cmd --permanent --zone=trusted --change-source=10.8.0.0/16; sudo firewall-cmd --reload",
}


def shell(text: str) -> list[str]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    [found] = [each for each in report.findings if each.name == "socket-firewall-ephemeral-ports"]
    return found.fixes[0].commands["shell"].split("\n")


@pytest.mark.parametrize("tool", FILTERS)
def test_the_line_is_for_the_filter_that_is_shown(tool: str) -> None:
    lines = shell(FILTERS[tool].replace("{net}", "10.8.0.0/16") + FAILED)
    assert LINES[tool] in lines
    others = {"ufw", "firewall-cmd", "iptables", "nft"} - {_program(tool)}
    assert not others & {line.split()[1] for line in lines}


def _program(tool: str) -> str:
    return "firewall-cmd" if tool == "firewalld" else tool


def test_the_network_of_an_interface_is_taken_before_a_larger_one() -> None:
    shown = "root@n2:~# ip -br addr\nbond0            UP             10.8.3.22/23\n"
    assert "sudo iptables -I INPUT -s 10.8.2.0/23 -p tcp -j ACCEPT" in shell(
        shown + FILTERS["iptables"].format(net="10.8.0.0/16") + FAILED
    )


def test_a_network_without_the_hosts_is_not_opened() -> None:
    assert not any("ACCEPT" in line for line in shell(FILTERS["iptables"].format(net="192.168.0.0/16") + FAILED))


def test_the_ports_of_the_kernel_are_enough() -> None:
    shown = "root@n2:~# sysctl net.ipv4.ip_local_port_range\nnet.ipv4.ip_local_port_range = 15000\t25000\n"
    lines = shell(shown + FILTERS["iptables"].format(net="10.8.0.0/16") + FAILED)
    assert "sudo iptables -I INPUT -s 10.8.0.0/16 -p tcp --dport 15000:25000 -j ACCEPT" in lines


@pytest.mark.parametrize(
    ("table", "chain"), [("inet a;reboot;#", "input"), ("inet a", "in$(reboot)"), ("ip6 a", "input")]
)
def test_a_hostile_name_or_another_family_gives_no_line(table: str, chain: str) -> None:
    text = FILTERS["nft"].replace("{net}", "10.8.0.0/16").replace("inet hostguard", table)
    lines = shell(text.replace("chain incoming", f"chain {chain}") + FAILED)
    assert not any("insert" in line or "reboot" in line for line in lines)


def test_rules_that_another_tool_writes_are_left_to_it() -> None:
    text = FILTERS["nft"].replace("{net}", "10.8.0.0/16").replace("inet hostguard", "inet firewalld")
    assert LINES["firewalld"] in shell(text + FAILED)


@pytest.mark.parametrize(
    ("last", "tool"), [("REJECT", "iptables"), ("ufw-before-input", "ufw"), ("INPUT_ZONES", "firewalld")]
)
def test_a_filter_shown_as_a_table_is_opened_for_the_tool_that_writes_it(last: str, tool: str) -> None:
    chain = f"Chain {last} (1 references)\ntarget prot opt source destination\nDROP       all  --  anywhere  anywhere\n"
    rest = "" if tool == "iptables" else chain
    lines = shell("root@n2:~# iptables -L\n" + ROWS.format(net="10.8.0.0/16", last=last) + rest + FAILED)
    assert LINES[tool] in lines


def test_a_table_that_rejects_nothing_is_no_cause() -> None:
    text = "root@n2:~# iptables -L\n" + ROWS.format(net="10.8.0.0/16", last="LOG") + FAILED
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    assert not any(each.name == "socket-firewall-ephemeral-ports" for each in report.findings)
