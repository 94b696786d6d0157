from __future__ import annotations

import pytest

from ncdiag.facts.scalars import Version
from ncdiag.nccl.selection.settings import effective, read_conf, user_file

OLD, NEW = Version(2, 18, 3), Version(2, 30, 7)


def values(text: str, version: Version) -> dict[str, str]:
    return {line.name: line.value for line in read_conf(text, version)}


def test_lines_of_a_conf_file() -> None:
    text = "NCCL_DEBUG=INFO\n\nno equals sign\nNCCL_SOCKET_IFNAME==eth0\nNCCL_IB_HCA=^mlx5_1,mlx5_2"
    expected = {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "=eth0", "NCCL_IB_HCA": "^mlx5_1,mlx5_2"}
    assert values(text, OLD) == values(text, NEW) == expected
    assert [line.line for line in read_conf(text, OLD)] == [1, 4, 5]
    assert not any(line.problems for line in read_conf(text, OLD))


@pytest.mark.parametrize(
    ("line", "name", "value", "word"),
    [
        ("export NCCL_DEBUG=INFO", "export NCCL_DEBUG", "INFO", "export"),
        ('NCCL_DEBUG="INFO"', "NCCL_DEBUG", '"INFO"', "quotes"),
        ("NCCL_DEBUG=INFO ", "NCCL_DEBUG", "INFO ", "blanks"),
        (" NCCL_DEBUG=INFO", " NCCL_DEBUG", "INFO", "blanks"),
        ("NCCL_X=" + "a" * 2000, "NCCL_X", "a" * 1023, "cut"),
    ],
)
def test_what_a_writer_may_not_have_meant(line: str, name: str, value: str, word: str) -> None:
    for version in (OLD, NEW):
        found = read_conf(line, version)
        assert [(one.name, one.value) for one in found] == [(name, value)]
        assert word in found[0].problems[0]


def test_comments_and_carriage_returns_by_version() -> None:
    assert values("#NCCL_DEBUG=INFO", Version(2, 25, 1)) == {"#NCCL_DEBUG": "INFO"}
    assert values("#NCCL_DEBUG=INFO", Version(2, 26, 2)) == {}
    assert values(" #NCCL_DEBUG=INFO", NEW) == {" #NCCL_DEBUG": "INFO"}
    assert values("NCCL_DEBUG=INFO\r\nNCCL_IB_TC=96\r\n", OLD) == {"NCCL_DEBUG": "INFO\r", "NCCL_IB_TC": "96\r"}
    assert values("NCCL_DEBUG=INFO\r\nNCCL_IB_TC=96\r\n", NEW) == {"NCCL_DEBUG": "INFO", "NCCL_IB_TC": "96"}


def test_the_first_setting_wins() -> None:
    user = ("/home/u/.nccl.conf", "NCCL_A=user\nNCCL_B=user\nNCCL_B=again")
    files = [user, ("/etc/nccl.conf", "NCCL_B=etc\nNCCL_C=etc")]
    found = effective({"NCCL_A": "env", "NCCL_D": ""}, [*files, ("later", "NCCL_D=file")], OLD)
    assert {name: (one.value, one.origin, one.line) for name, one in found.items()} == {
        "NCCL_A": ("env", "environment", 0),
        "NCCL_B": ("user", "/home/u/.nccl.conf", 2),
        "NCCL_C": ("etc", "/etc/nccl.conf", 2),
        "NCCL_D": ("", "environment", 0),
    }


def test_which_user_file() -> None:
    env = {"HOME": "/srv/own", "NCCL_CONF_FILE": "/x.conf"}
    assert user_file(env, "/home/u", OLD) == "/home/u/.nccl.conf"
    assert user_file(env, "/home/u", Version(2, 23, 4)) == "/x.conf"
    assert user_file({"HOME": "/srv/own", "NCCL_CONF_FILE": ""}, "/home/u", Version(2, 29, 7)) == "/home/u/.nccl.conf"
    assert user_file({"HOME": "/srv/own"}, "/home/u", NEW) == "/srv/own/.nccl.conf"
    assert user_file({"HOME": "/srv/own"}, "/home/u", None) is None
    assert user_file({"HOME": "/home/u"}, "/home/u", None) == "/home/u/.nccl.conf"
