"""Which variables are in force on a host: environment, conf files, and what each release reads of them."""

from __future__ import annotations

import pytest

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.nccl.on_host.in_force import InForce, in_force
from ncdiag.text.reading.job import facts_of

OLD, NEW = Version(2, 18, 3), Version(2, 30, 7)
PASTE = """\
[root@n1 ~]# cat /etc/nccl.conf
NCCL_IB_HCA=mlx5_0
NCCL_IB_TC=106
[root@n1 ~]# cat {home}
NCCL_IB_HCA==mlx5_1
NCCL_SOCKET_IFNAME=bond0
[root@n1 ~]# env
HOME=/root
PATH=/usr/bin:/bin
PWD=/root
SHELL=/bin/bash
USER=root
TERM=xterm
LANG=C
{more}LOGNAME=root
"""


def found(version: Version | VersionRange | None, more: str = "", home: str = "~/.nccl.conf", **env: str) -> InForce:
    job = facts_of({"paste": [PASTE.format(more=more, home=home)]})
    view = View(job, environment.resolve_fields)
    (host,) = job.hosts
    return in_force(host, view, version, {f"NCCL_{name}": value for name, value in env.items()})


def nccl(values: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix("NCCL_"): value for name, value in values.items()}


def test_the_home_file_comes_before_the_one_of_the_system() -> None:
    assert nccl(found(OLD).values) == {"IB_HCA": "=mlx5_1", "SOCKET_IFNAME": "bond0", "IB_TC": "106"}
    told = {reason.about: reason.text for reason in found(OLD).reasons}
    assert told["NCCL_IB_HCA"] == "=mlx5_1 comes from ~/.nccl.conf"
    assert told["NCCL_IB_TC"] == "106 comes from /etc/nccl.conf"


def test_rules_see_the_file_that_comes_first_whatever_was_pasted_first() -> None:
    text = PASTE.format(more="", home="~/.nccl.conf")
    (host,) = facts_of({"paste": [text]}).hosts
    assert {name: (s.text, s.file) for name, s in host.conf_settings.items()} == {
        "NCCL_IB_HCA": ("=mlx5_1", "~/.nccl.conf"),
        "NCCL_SOCKET_IFNAME": ("bond0", "~/.nccl.conf"),
        "NCCL_IB_TC": ("106", "/etc/nccl.conf"),
    }


def test_the_environment_comes_first_and_an_empty_value_is_set() -> None:
    inside = found(OLD, "NCCL_IB_HCA=mlx5_7\nNCCL_IB_TC=\n")
    assert nccl(inside.values) == {"IB_HCA": "mlx5_7", "IB_TC": "", "SOCKET_IFNAME": "bond0"}
    assert any("of ~/.nccl.conf does not count: the environment sets it" in reason.text for reason in inside.reasons)
    assert nccl(found(OLD, SOCKET_IFNAME="eth9").values)["SOCKET_IFNAME"] == "eth9"


@pytest.mark.parametrize("version", [NEW, None])
def test_a_named_file_stands_in_for_the_one_of_the_home_since_2_23(version: Version | None) -> None:
    named = found(version, "NCCL_CONF_FILE=/opt/job.conf\n")
    assert nccl(named.values) == {"CONF_FILE": "/opt/job.conf", "IB_HCA": "mlx5_0", "IB_TC": "106"}
    assert any("is not read: NCCL_CONF_FILE replaces it" in reason.text for reason in named.reasons)


def test_older_releases_do_not_know_the_named_file() -> None:
    named = found(OLD, "NCCL_CONF_FILE=/opt/job.conf\n")
    assert nccl(named.values)["IB_HCA"] == "=mlx5_1"
    assert any(r.about == "NCCL_CONF_FILE" and "not read by this release" in r.text for r in named.reasons)


def test_the_named_file_itself() -> None:
    named = found(NEW, "NCCL_CONF_FILE=/opt/.nccl.conf\n", home="/opt/.nccl.conf")
    assert nccl(named.values)["IB_HCA"] == "=mlx5_1"


@pytest.mark.parametrize(
    ("env", "text"),
    [
        ({"IB_DISABLE": "true"}, "NCCL_IB_DISABLE=true: NCCL reads 0"),
        ({"IB_GID_INDEX": "3abc"}, "NCCL_IB_GID_INDEX=3abc: NCCL reads 3"),
        ({"IB_TIMEOUT": "022"}, "NCCL_IB_TIMEOUT=022: NCCL reads 18"),
        ({"NET_GDR_LEVEL": "phb"}, "does not accept 'phb'; PHB was probably intended; the default P2C stays"),
        ({"SOCKET_IFNAME": "10.1.0.5"}, "addresses are not accepted"),
        ({"NET": ""}, "is set to nothing, which names no network"),
        ({"IB_CUDA_SUPPORT": "1"}, "this release does not read it"),
    ],
)
def test_values_that_are_read_otherwise_than_they_were_meant(env: dict[str, str], text: str) -> None:
    assert any(text in reason.text for reason in found(NEW, **env).reasons)
