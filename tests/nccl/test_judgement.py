"""What the book says of names and values: class by class, what is wrong, what was meant, and what is right."""

from __future__ import annotations

import pytest

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import environment
from ncdiag.nccl.judgement.names import of_name
from ncdiag.nccl.judgement.values import Written, of_value
from ncdiag.nccl.judgement.words import LEVELS

OLD, NEW = Version(2, 18, 3), Version(2, 30, 7)


@pytest.mark.parametrize(
    ("name", "text", "fault", "right"),
    [
        ("NCCL_IB_DISABLE", "true", "not-a-number", "1"),
        ("NCCL_SHM_DISABLE", "false", "not-a-number", "0"),
        ("NCCL_IB_GID_INDEX", "auto", "not-a-number", None),
        ("NCCL_BUFFSIZE", "8M", "not-a-number", "8388608"),
        ("NCCL_IB_TIMEOUT", "022", "not-a-number", "22"),
        ("NCCL_IB_TIMEOUT", "1000", "out-of-range", "20"),
        ("NCCL_NTHREADS", "100", "out-of-range", None),
        ("NCCL_NET_GDR_LEVEL", "phb", "word-unknown", "PHB"),
        ("NCCL_NET_MERGE_LEVEL", "pix", "word-unknown", "PIX"),
        ("NCCL_IB_ADDR_FAMILY", "af_inet", "word-unknown", "AF_INET"),
        ("NCCL_CTA_POLICY", "EFICIENCY|ZERO", "word-unknown", "EFFICIENCY|ZERO"),
        ("NCCL_DEBUG_SUBSYS", "init,xyzzy", "word-unknown", None),
        ("NCCL_IB_ADDR_FAMILY", "ipv6", "of-another-kind", "AF_INET6"),
        ("NCCL_NET_GDR_LEVEL", "NODE", "of-another-kind", "PHB"),
        ("NCCL_SOCKET_IFNAME", "fd00:4::7/64", "of-another-kind", None),
        ("NCCL_SOCKET_IFNAME", "rocep24s0", "of-another-kind", None),
        ("NCCL_SOCKET_IFNAME", "e", "of-another-kind", None),
        ("NCCL_SOCKET_IFNAME", "eth[01]*", "of-another-kind", None),
        ("NCCL_IB_HCA", "mlx5_0;mlx5_1", "of-another-kind", "mlx5_0,mlx5_1"),
        ("NCCL_IB_HCA", "mlx5_{0..3}", "of-another-kind", None),
        ("NCCL_IB_HCA", "bond0", "of-another-kind", None),
        ("NCCL_IB_HCA", "*", "of-another-kind", None),
        ("NCCL_OOB_NET_IFNAME", "!mlx5_0", "of-another-kind", "^mlx5_0"),
        ("NCCL_DEBUG", "'INFO'", "has-quotes-or-blanks", "INFO"),
        ("NCCL_SOCKET_IFNAME", "eth0 ", "has-quotes-or-blanks", "eth0"),
        ("NCCL_NET", "", "empty-counts", None),
        ("NCCL_IB_HCA", "", "empty", None),
    ],
)
def test_what_is_wrong_with_a_value(name: str, text: str, fault: str, right: str | None) -> None:
    found = of_value(name, text, NEW)
    assert found is not None
    assert (found.fault, found.right) == (fault, right)
    assert name in found.what
    assert right is None or of_value(name, right, NEW) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NCCL_IB_TC", "41"), ("NCCL_IB_TC", "26"), ("NCCL_NTHREADS", "384"), ("NCCL_IB_PKEY_VALUE", "0x8001"),
        ("NCCL_CTA_POLICY", "efficiency|zero"), ("NCCL_CTA_POLICY", "1"), ("NCCL_CHECK_MODE", "debug_local"),
        ("NCCL_NET_MERGE_POLICY", "rail"), ("NCCL_ALGO", "Ring,"), ("NCCL_ALGO", ""), ("NCCL_DEBUG_LEVELS", "NONE"),
        ("NCCL_NET", "ib"), ("NCCL_NET", "FasTrak"), ("NCCL_NET_PLUGIN", "None"), ("NCCL_OOB_NET_IFNAME", "ib0"),
        ("NCCL_SOCKET_IFNAME", "ibp12s0"), ("NCCL_SOCKET_IFNAME", "bond0.40,eth1"), ("NCCL_IB_HCA", "ibp12s0"),
        ("NCCL_IB_HCA", "=mlx5_0:1,mlx5_bond_0"), ("NCCL_IB_HCA", "^none"),
        ("NO_SUCH_VARIABLE", "true"), ("UCX_TLS", "rc,x"),
    ],
)  # fmt: skip
def test_values_that_work_as_meant(name: str, text: str) -> None:
    assert of_value(name, text, NEW) is None


@pytest.mark.parametrize(
    ("text", "written", "right"),
    [
        ("mlx5_0  # the fast one", "conf", "mlx5_0"), ("mlx5_0  # the fast one", "process", "mlx5_0,#,the,fast,one"),
        ("mlx5_0\r", "conf", None), ("mlx5_0\r", "process", "mlx5_0"), ("mlx5_0 ", "env file", None),
        ("'mlx5_0'", "env file", "mlx5_0"),
    ],
)  # fmt: skip
def test_where_a_value_stands_decides_what_belongs_to_it(text: str, written: Written, right: str | None) -> None:
    found = of_value("NCCL_IB_HCA", text, NEW, written)
    assert (found.right if found else None) == right


def test_a_shell_expands_a_tilde_and_nobody_else_does() -> None:
    assert of_value("NCCL_DEBUG_FILE", "~/nccl.log", NEW, "shell") is None
    assert of_value("NCCL_DEBUG_FILE", "~/nccl.log", NEW) is not None


def test_the_release_decides() -> None:
    assert of_value("NCCL_ALGO", "", OLD) is not None
    assert of_value("NCCL_ALGO", "CollNet", Version(2, 10, 3)) is None
    assert of_value("NCCL_NET_GDR_LEVEL", "P2C", NEW) is None
    old = of_value("NCCL_NET_GDR_LEVEL", "P2C", OLD)
    assert old is not None
    assert "P2C" not in old.why
    part = of_value("NCCL_SET_THREAD_NAME", "TRUE", VersionRange(OLD, NEW))
    assert part is not None
    assert part.holds(VersionRange(OLD, NEW)) is None
    assert part.holds(OLD) is True


@pytest.mark.parametrize(("text", "mild"), [("false", True), ("1;", True), ("+1", True), ("true", False)])
def test_what_is_read_as_it_was_meant_is_worth_a_remark_alone(text: str, mild: bool) -> None:
    found = of_value("NCCL_SHM_DISABLE", text, NEW)
    assert found is not None
    assert found.mild is mild


def test_levels_are_those_that_some_release_understands() -> None:
    assert all(of_value("NCCL_P2P_LEVEL", level, NEW) is None for level in LEVELS)
    assert environment.resolve("NCCL_P2P_LEVEL", "PXB", VersionRange(Version(2, 4, 8), NEW)).effective == "PXB"


def test_a_value_is_valid_where_nothing_is_wrong_with_it() -> None:
    for name, text in (("NCCL_SOCKET_IFNAME", "10.1.0.5"), ("NCCL_ALGO", "rign"), ("NCCL_DEBUG", '"INFO"')):
        assert environment.resolve(name, text, NEW).valid is False
    assert environment.resolve("NCCL_NET", "sOcKeT", NEW).effective == "Socket"
    assert environment.resolve("NCCL_TUNER_PLUGIN", "NONE", NEW).effective == "none"


def test_hostile_values_are_judged_in_time() -> None:
    for text in ("mlx5_0 " * 200_000, "[" * 100_000, "a:" * 100_000, "1" * 100_000, "\\1;" * 3000, "(" * 500):
        for name in ("NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_ALGO", "NCCL_IB_TIMEOUT", "NCCL_DEBUG_SUBSYS"):
            of_value(name, text, NEW, "conf")


@pytest.mark.parametrize(
    ("name", "version", "fault", "near"),
    [
        ("NCCL_SOKCET_IFNAME", None, "misspelt", ("NCCL_SOCKET_IFNAME",)),
        ("NCCL_IB_MTU", None, "misspelt", ()),
        ("NCLL_DEBUG", None, "misspelt", ("NCCL_DEBUG",)),
        ("nccl_debug", None, "misspelt", ("NCCL_DEBUG",)),
        ("HCCL_CONNECT_TIMEOUTS", None, "neighbour-misspelt", ("HCCL_CONNECT_TIMEOUT",)),
        ("NCCL_TIMEOUT", None, "of-others", ()),
        ("NCCL_TEST", None, "unread", ()),
        ("NCCL_RDMA_SHARP_PLUGINS_DIR", None, "unread", ()),
        ("NCCL_TREE_THRESHOLD", NEW, "removed", ("NCCL_ALGO",)),
        ("NCCL_IB_FIFO_TC", OLD, "too-new", ()),
        ("NCCL_CHECK_POINTERS", NEW, "deprecated", ("NCCL_CHECK_MODE",)),
        ("NCCL_CHUNK_SIZE", NEW, "undocumented", ()),
        ("NCCL_DEBUG", NEW, None, ()),
        ("NCCL_ASYNC_ERROR_HANDLING", NEW, "deprecated", ("TORCH_NCCL_ASYNC_ERROR_HANDLING",)),
        ("NCCL_GPUVIZ_CLUSTER_SIZE", None, None, ()),
        ("NCCL_NET_PLUGIN_TELEMETRY_MODE", None, None, ()),
        ("PATH", None, None, ()),
        ("MCCL_DEBUG", None, None, ()),
    ],
)
def test_what_is_wrong_with_a_name(
    name: str, version: Version | None, fault: str | None, near: tuple[str, ...]
) -> None:
    found = of_name(name, version)
    assert (found.fault if found else None) == fault
    assert (found.near if found else ()) == near


def test_a_release_that_is_not_known_leaves_it_open() -> None:
    found = of_name("NCCL_TREE_THRESHOLD")
    assert found is not None
    assert found.holds(None) is None
    assert found.mild


@pytest.mark.parametrize(
    ("name", "ranks", "hosts"),
    [
        ("NCCL_ALGO", True, True), ("NCCL_P2P_LEVEL", True, False), ("NCCL_IB_TIMEOUT", False, False),
        ("NCCL_CHUNK_SIZE", None, None), ("NCCL_NO_SUCH", None, None), ("FI_PROVIDER", True, True),
    ],
)  # fmt: skip
def test_on_what_ranks_must_agree(name: str, ranks: bool | None, hosts: bool | None) -> None:
    assert environment.must_agree(name) is ranks
    assert environment.must_agree(name, between_hosts=True) is hosts
