"""Single values, names and words: what NCCL makes of them and what lint says, case by case."""

from __future__ import annotations

import re

import pytest

from ncdiag.apps.lint import forms, values
from ncdiag.apps.lint.edits import applied
from ncdiag.apps.lint.words import commands
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import environment
from ncdiag.nccl.judgement.values import of_value


def judged(name: str, value: str, release: str | None = None) -> tuple[str, str] | None:
    """The check that finds fault with a value, and the value as it should be; None when there is none."""
    document = forms.read("nccl.conf", f"{name}={value}\n", "conf")
    version = Version.parse(release) if release else None
    found = list(values.check(document, VersionRange(version, version) if version else None))
    if not found:
        return None
    assert len(found) == 1
    text = applied(document.text, found[0].edits).strip("\n")
    return found[0].name, text.partition("=")[2] if found[0].fixable else ""


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("NCCL_IB_DISABLE", "true", "1"), ("NCCL_P2P_DISABLE", "Off", "0"), ("NCCL_IB_DISABLE", "1;", "1"),
        ("NCCL_BUFFSIZE", "4M", "4194304"), ("NCCL_BUFFSIZE", "8 MiB", "8388608"), ("NCCL_IB_TIMEOUT", "022", "22"),
        ("NCCL_IB_TIMEOUT", "22.0", "22"), ("NCCL_IB_TIMEOUT", "+22", "22"), ("NCCL_IB_TIMEOUT", "twenty", ""),
        ("NCCL_IB_GID_INDEX", "auto", ""),
    ],
)  # fmt: skip
def test_numbers_that_are_read_otherwise(name: str, value: str, right: str) -> None:
    assert judged(name, value) == ("value-not-a-number", right)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("NCCL_DEBUG", "INF", "INFO"), ("NCCL_DEBUG", "loud", ""), ("NCCL_NET_GDR_LEVEL", "pxb", "PXB"),
        ("NCCL_P2P_LEVEL", "PHX", ""), ("NCCL_NET_GDR_LEVEL", "PBX", ""), ("NCCL_P2P_LEVEL", "NLV", "NVL"),
        ("NCCL_ALGO", "Ring,Treee", "Ring,Tree"),
        ("NCCL_PROTO", "^Simpel", "^Simple"),
        ("NCCL_DEBUG_SUBSYS", "INIT,GRPAH", "INIT,GRAPH"),
        ("NCCL_ALGO", "allreduce:rign;broadcast:tree", "allreduce:Ring;broadcast:tree"),
    ],
)  # fmt: skip
def test_words_that_are_not_known(name: str, value: str, right: str) -> None:
    assert judged(name, value) == ("value-word-unknown", right)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_IB_DISABLE", "0"), ("NCCL_IB_TIMEOUT", "0x16"), ("NCCL_IB_GID_INDEX", "-1"), ("NCCL_DEBUG", "warn"),
        ("NCCL_ALGO", "^NVLS,NVLSTree"), ("NCCL_ALGO", "allreduce:tree,ring;broadcast:ring"),
        ("NCCL_PROTO", "ll,SIMPLE"),
        ("NCCL_NET_GDR_LEVEL", "SYS"), ("NCCL_P2P_LEVEL", "3"), ("NCCL_SOCKET_IFNAME", "=eth0,bond0"),
        ("NCCL_SOCKET_IFNAME", "^lo,docker"), ("NCCL_IB_HCA", "=mlx5_0:1,mlx5_2:1"), ("NCCL_IB_HCA", "^mlx5_bond_0"),
        ("NCCL_NET", "AWS Libfabric"), ("NCCL_TOPO_FILE", "/opt/my topo.xml"), ("NCCL_IB_TC", "104"),
        ("NCCL_DEBUG_FILE", "logs/nccl.%h.%p"), ("NCCL_CUMEM_ENABLE", "-2"), ("HCCL_DETERMINISTIC", "false"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "true"), ("NCCL_CROSS_NIC", "2"),
    ],
)  # fmt: skip
def test_values_that_are_right(name: str, value: str) -> None:
    assert judged(name, value) is None


def test_the_release_decides_over_words_for_numbers() -> None:
    assert judged("NCCL_SET_THREAD_NAME", "TRUE", "2.27.7") == ("value-not-a-number", "1")
    assert judged("NCCL_SET_THREAD_NAME", "TRUE", "2.30.7") is None
    assert judged("NCCL_ALGO", "CollNet", "2.10.3") is None
    assert judged("NCCL_ALGO", "CollNet", "2.21.5") == ("value-of-another-kind", "CollNetDirect,CollNetChain")


def test_every_wrong_value_is_mended_to_one_that_is_right() -> None:
    samples = {
        "!lo": "^lo", "eth*": "eth", "eth0;eth1": "eth0,eth1", "eth0 eth1": "eth0,eth1", "bond0:10.0.0.1": "bond0",
        "mlx5_0": None, "10.0.0.1": None, "Eth0": None,
    }  # fmt: skip
    for text, right in samples.items():
        found = of_value("NCCL_SOCKET_IFNAME", text)
        assert found is not None, text
        assert (found.fault, found.right) == ("of-another-kind", right)
    for name, mistakes in environment.table().wrong_values.items():
        for known in mistakes:
            found = of_value(name, known.sample)
            assert name in environment.variables()
            assert found is not None
            assert found.fault == "of-another-kind", known
            assert re.fullmatch(known.value, known.sample)
            assert found.right is None or of_value(name, found.right) is None, known


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NCLL_DEBUG", ["NCCL_DEBUG"]), ("NCC_DEBUG", ["NCCL_DEBUG"]), ("nccl_debug", ["NCCL_DEBUG"]),
        ("NCCL_SOCKET_IFNAM", ["NCCL_SOCKET_IFNAME"]), ("NCCL_DEBUG", []), ("NCCL_ARGS", []), ("MCCL_DEBUG", []),
        ("NHC_DEBUG", []), ("HCCL_CONNECT_TIMEOUTS", ["HCCL_CONNECT_TIMEOUT"]), ("PATH", []),
    ],
)  # fmt: skip
def test_what_a_name_was_meant_to_be(name: str, meant: list[str]) -> None:
    assert list(environment.suggest(name)) == meant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1 b 'c d' \"e $f\"", [["A=1", "b", "c d", None]]),
        ("a \\\n b # c\nd", [["a", "b"], ["d"]]),
        ("a;b&&c|d", [["a"], ["b"], ["c"], ["d"]]),
        ('x=$(a; b "c") y=`d` ${z:-1}', [[None, None, None]]),
        ("cat <<E > f\nskipped\nE\nb", [["cat"], ["b"]]),
        ("a 2>&1 >out b", [["a", "b"]]),
        ("it's", [["it's"]]),
        ("a\\ b", [["a b"]]),
    ],
)  # fmt: skip
def test_words_of_a_shell(text: str, words: list[list[str | None]]) -> None:
    assert [[word.text for word in each.words] for each in commands(text) if each.words] == words


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("FROM nvcr.io/nvidia/pytorch:24.05-py3\n", "2.21.5"), ("FROM x\nRUN pip install torch==2.4.0\n", "2.20.5"),
        ("FROM x\nRUN pip install nvidia-nccl-cu12==2.27.7\n", "2.27.7"),
        ("FROM x\nENV NCCL_VERSION=2.19.3-1\n", "2.19.3"),
        ("FROM x\nRUN apt-get install libnccl2=2.18.3-1+cuda12.1\n", "2.18.3"), ("FROM x\n", None),
        ("FROM nvcr.io/nvidia/pytorch:99.01-py3\n", None), ("FROM x\nENV AWS_OFI_NCCL_VERSION=v1.16.3\n", None),
    ],
)  # fmt: skip
def test_the_release_that_a_file_tells(text: str, release: str | None) -> None:
    told = forms.read("Dockerfile", text, "dockerfile").nccl
    assert (None if told is None else str(told.low)) == release
