"""Fixes with values that look right and are not: the report does not offer them and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.diagnose import Options, diagnose
from ncdiag.report.model import Finding
from ncdiag.text.sources.files import TextSource

RULE = """\
code = "PRV777"
name = "planted-trap"
area = "env"
severity = "warning"
role = "cause"
layer = 10
title = "A rule with a value of folklore for {{h.name}}"
each = {{ h = "job.hosts" }}
when = ['h.name != ""']
why = "Somebody read it somewhere."
[[fix]]
kind = "env"
env = {{ {name} = "{value}" }}
confirm = "it works"
[[example]]
name = "always"
outcome = "fired"
nccl_log = '''
n1:40:51 [0] NCCL INFO NCCL version 2.18.3+cuda12.1
'''
"""
LO = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\n    inet 127.0.0.1/8 scope host lo\n"


def link(index: int, name: str, address: str) -> str:
    flags = "<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP"
    return f"{index}: {name}: {flags}\n    inet {address} scope global {name}\n"


def interfaces(host: str, *links: str) -> str:
    return f"[root@{host} ~]# ip addr\n{LO}{''.join(links)}"


def gids(host: str, *rows: str) -> str:
    head = "DEV     PORT    INDEX   GID                                     IPv4            VER     DEV\n"
    rule = "---     ----    -----   ---                                     ------------    ---     ---\n"
    body = "".join(f"mlx5_0  1       {row}\n" for row in rows)
    return f"[root@{host} ~]# show_gids\n{head}{rule}{body}n_gids_found={len(rows)}\n[root@{host} ~]# \n"


LOCAL = ("0       fe80:0000:0000:0000:0200:5eff:fe00:0001                 v1      eth0",
         "1       fe80:0000:0000:0000:0200:5eff:fe00:0001                 v2      eth0")  # fmt: skip


def pair(index: int, last: int) -> tuple[str, str]:
    address = f"0000:0000:0000:0000:0000:ffff:0a00:000{last} 10.0.0.{last}       "
    return f"{index}       {address} v1      eth0", f"{index + 1}       {address} v2      eth0"


VERSION = "n1:40:51 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"
N2 = interfaces("n2", link(2, "eth1", "10.0.0.12/24"))


def finding(tmp_path: Path, name: str, value: str, text: str) -> Finding:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "planted-trap.toml").write_text(RULE.format(name=name, value=value))
    options = Options(rules=(tmp_path,), select=("planted-trap",), nccl="2.18.3")
    report = diagnose([TextSource.of_bytes("paste", text.encode())], options)
    return report.findings[0]


@pytest.mark.parametrize(
    ("name", "value", "text", "words"),
    [
        pytest.param(
            "NCCL_SOCKET_IFNAME", "^lo,docker0",
            interfaces("n1", link(2, "veth5a3f1c2", "172.19.0.1/16"), link(3, "docker0", "172.17.0.1/16"),
                       link(4, "eth1", "10.0.0.11/24")) + N2,
            "veth5a3f1c2", id="a list that admits veth",
        ),
        pytest.param(
            "NCCL_SOCKET_IFNAME", "eth1",
            interfaces("n1", link(2, "eth10", "10.7.0.1/24"), link(3, "eth1", "10.0.0.11/24")) + N2,
            "eth10", id="a prefix that catches another",
        ),
        pytest.param(
            "NCCL_SOCKET_IFNAME", "^docker",
            interfaces("n1", link(2, "docker0", "172.17.0.1/16"), link(3, "eth1", "10.0.0.11/24")) + N2,
            "lo (127.0.0.1)", id="a list that lets lo back in",
        ),
        pytest.param(
            "NCCL_IB_GID_INDEX", "3", gids("n1", *LOCAL, *pair(2, 1)) + gids("n2", *LOCAL, *pair(4, 2)),
            "empty", id="an index that is empty on the other host",
        ),
    ],
)  # fmt: skip
def test_traps_are_not_offered(tmp_path: Path, name: str, value: str, text: str, words: str) -> None:
    found = finding(tmp_path, name, value, text)
    assert found.fixes == ()
    (why,) = found.not_offered
    assert why.startswith(f"{name}={value}: ")
    assert words in why


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("NCCL_SOCKET_IFNAME", "=eth1",
         interfaces("n1", link(2, "eth10", "10.7.0.1/24"), link(3, "eth1", "10.0.0.11/24")) + N2),
        ("NCCL_IB_GID_INDEX", "3", gids("n1", *LOCAL, *pair(2, 1)) + gids("n2", *LOCAL, *pair(2, 2))),
    ],
)  # fmt: skip
def test_the_right_value_is_offered_with_its_proof(tmp_path: Path, name: str, value: str, text: str) -> None:
    found = finding(tmp_path, name, value, text)
    (fix,) = found.fixes
    assert fix.proof is not None
    assert (fix.proof.state, found.not_offered) == ("proved", ())


def test_what_was_not_seen_is_offered_as_not_simulated(tmp_path: Path) -> None:
    (fix,) = finding(tmp_path, "NCCL_SOCKET_IFNAME", "=eth1", VERSION).fixes
    assert fix.proof is not None
    assert fix.proof.state == "not-simulated"
