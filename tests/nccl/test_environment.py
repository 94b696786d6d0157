from __future__ import annotations

import pytest

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import environment
from ncdiag.nccl.environment import is_foreign, resolve, suggest, variables
from ncdiag.nccl.numbers import is_plain, parse_number
from ncdiag.nccl.spelling import distance


@pytest.mark.parametrize(
    ("text", "number", "plain"),
    [
        ("22", 22, True), ("-1", -1, True), ("0", 0, True), ("0x1F", 31, True), (" 7", 7, True),
        ("true", 0, False), ("yes", 0, False), ("1abc", 1, False), ("4M", 4, False), ("010", 8, False),
        ("08", 0, False), ("0x", 0, False), ("", None, False), (None, None, False),
        ("9223372036854775807", 2**63 - 1, True), ("9223372036854775808", None, True), ("9" * 5000, None, True),
    ],
)  # fmt: skip
def test_numbers_are_read_as_strtoll_does(text: str | None, number: int | None, plain: bool) -> None:
    assert parse_number(text) == number
    if text:
        assert is_plain(text) == plain


@pytest.mark.parametrize(
    ("name", "version", "default"),
    [
        ("NCCL_IB_TIMEOUT", "2.13.4", 14), ("NCCL_IB_TIMEOUT", "2.14.3", 18), ("NCCL_IB_TIMEOUT", "2.22.3", 18),
        ("NCCL_IB_TIMEOUT", "2.23.4", 20), ("NCCL_IB_GID_INDEX", "2.20.5", 0), ("NCCL_IB_GID_INDEX", "2.21.5", -1),
        ("NCCL_NET_GDR_LEVEL", "2.18.3", "PXB"), ("NCCL_NET_GDR_LEVEL", "2.5.7", "PHB"),
        ("NCCL_DEBUG_SUBSYS", "2.23.4", "INIT,BOOTSTRAP,ENV"), ("NCCL_SOCKET_IFNAME", "2.18.3", None),
        ("NCCL_P2P_DISABLE", "2.18.3", 0), ("NCCL_CROSS_NIC", "2.18.3", 2), ("NCCL_BUFFSIZE", "2.18.3", 4194304),
    ],
)  # fmt: skip
def test_defaults_by_version(name: str, version: str, default: int | str | None) -> None:
    assert variables()[name].default_at(VersionRange.exact(version)) == default


def test_default_over_a_range_only_where_it_is_one() -> None:
    timeout = variables()["NCCL_IB_TIMEOUT"]
    assert timeout.default_at(VersionRange(Version(2, 14), Version(2, 22))) == 18
    assert timeout.default_at(VersionRange(Version(2, 14), Version(2, 23))) is None
    assert timeout.default_at(None) is None
    assert variables()["NCCL_IB_RETRY_CNT"].default_at(None) == 7


def test_existence_by_version() -> None:
    old, new = variables()["NCCL_IB_GDR_LEVEL"], variables()["NCCL_IB_FIFO_TC"]
    assert old.exists_at(Version(2, 3, 7)) is True
    assert old.exists_at(Version(2, 4, 2)) is False
    assert new.exists_at(Version(2, 21, 5)) is False
    assert new.exists_at(Version(2, 22, 3)) is True
    assert new.exists_at(None) is None
    assert variables()["NCCL_DEBUG"].exists_at(None) is True


@pytest.mark.parametrize(
    ("name", "text", "version", "effective", "valid"),
    [
        ("NCCL_IB_TIMEOUT", None, "2.18.3", 18, True),
        ("NCCL_IB_TIMEOUT", "", "2.18.3", 18, True),
        ("NCCL_IB_TIMEOUT", "22", "2.18.3", 22, True),
        ("NCCL_IB_TIMEOUT", "300", "2.18.3", 300, False),
        ("NCCL_IB_DISABLE", "true", "2.18.3", 0, False),
        ("NCCL_IB_PCI_RELAXED_ORDERING", "010", "2.18.3", 8, False),
        ("NCCL_BUFFSIZE", "4M", "2.18.3", 4, False),
        ("NCCL_IB_TC", "-1", "2.27.7", -1, True),
        ("NCCL_NET_GDR_LEVEL", "PHB", "2.18.3", "PHB", True),
        ("NCCL_NET_GDR_LEVEL", "0", "2.18.3", "LOC", True),
        ("NCCL_NET_GDR_LEVEL", "phb", "2.18.3", "PXB", False),
        ("NCCL_NET_GDR_LEVEL", "NODE", "2.18.3", "PXB", False),
        ("NCCL_NET_GDR_LEVEL", "P2C", "2.18.3", "PXB", False),
        ("NCCL_NET_GDR_LEVEL", "P2C", "2.30.7", "P2C", True),
        ("NCCL_DEBUG", "info", "2.18.3", "INFO", True),
        ("NCCL_DEBUG", "ERROR", "2.18.3", None, False),
        ("NCCL_SOCKET_FAMILY", "ipv4", "2.18.3", None, False),
        ("NCCL_SOCKET_IFNAME", "eth0", "2.18.3", "eth0", None),
        ("NCCL_IB_GDR_LEVEL", "PHB", "2.18.3", None, False),
        ("NCCL_NO_SUCH_THING", "1", "2.18.3", None, None),
    ],
)
def test_values_in_force(name: str, text: str | None, version: str, effective: object, valid: bool | None) -> None:
    resolved = resolve(name, text, VersionRange.exact(version))
    assert (resolved.effective, resolved.valid) == (effective, valid)


def test_a_level_that_only_some_versions_know_is_open() -> None:
    assert resolve("NCCL_NET_GDR_LEVEL", "P2C", None).valid is None
    assert resolve("NCCL_NET_GDR_LEVEL", "SYS", VersionRange(Version(2, 6), Version(2, 30))).effective == "SYS"


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("NCCL_PROTOS", "NCCL_PROTO"), ("NCCL_IFNAME", "NCCL_SOCKET_IFNAME"), ("NCCL_IB_HCAS", "NCCL_IB_HCA"),
        ("NCCL_SOKCET_IFNAME", "NCCL_SOCKET_IFNAME"), ("NCCL_IB_DISABEL", "NCCL_IB_DISABLE"),
        ("nccl_debug", "NCCL_DEBUG"), ("NCCL_P2P_LEVLE", "NCCL_P2P_LEVEL"), ("NCCL_DEBUG", None),
        ("NCCL_LAUNCH_TIMEOUT", None), ("NCCL_ENTIRELY_OTHER", None),
    ],
)  # fmt: skip
def test_suggestions(name: str, first: str | None) -> None:
    found = suggest(name)
    assert (found[0] if found else None) == first


@pytest.mark.parametrize(
    ("name", "foreign"),
    [
        ("NCCL_DEBUG", False), ("NCCL_PROTOS", False), ("NCCL_ASYNC_ERROR_HANDLING", True),
        ("NCCL_BLOCKING_WAIT", True),
        ("NCCL_OFI_ANYTHING", True), ("NCCL_VERSION", True), ("NCCL_PROFILER_PLUGIN", False), ("PATH", True),
        ("NCCL_TUNER_CONFIG_FILE", True), ("NCCL_TUNER_PLUGIN", False),
    ],
)  # fmt: skip
def test_names_of_others(name: str, foreign: bool) -> None:
    assert is_foreign(name) is foreign


def test_table_is_whole() -> None:
    table = environment.table()
    ours = [v for v in table.variables.values() if v.owner == environment.OURS]
    assert len(ours) > 300
    for variable in ours:
        assert variable.name.startswith("NCCL_")
        assert variable.means
        assert variable.since is None or variable.until is None or variable.since < variable.until
        firsts = [since for since, _ in variable.defaults]
        assert firsts == sorted(firsts)
    for wrong, fields in table.misspelt.items():
        assert wrong not in {v.name for v in ours}
        assert all(name in table.variables for name in fields.right), wrong
    for owner in {variable.owner for variable in table.variables.values()}:
        names = [variable.name for variable in table.variables.values() if variable.owner == owner]
        assert names == sorted(names), owner


def test_a_default_that_is_worked_out_is_explained() -> None:
    numbers = [v for v in variables().values() if v.owner == environment.OURS and v.type in environment.NUMBERS]
    worked_out = [v for v in numbers if not v.defaults or any(d == "" or d in {-1, -2} for _, d in v.defaults)]
    assert len(worked_out) > 50
    assert not [v.name for v in worked_out if not v.unset]


@pytest.mark.parametrize(
    ("left", "right", "edits"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xyz", None), ("", "ab", 2), ("abcde", "a", None)],
)
def test_distance(left: str, right: str, edits: int | None) -> None:
    assert distance(left, right, 2) == edits
    assert distance(right, left, 2) == edits
