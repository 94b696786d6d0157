from __future__ import annotations

from collections.abc import Mapping

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.model import Gid, GidType, LinkLayer, Port
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl.selection.gid import GidChoice, gid_index

OLD, MID, NEW = Version(2, 20, 5), Version(2, 21, 5), Version(2, 30, 7)
V1: GidType = "RoCE v1"
V2: GidType = "RoCE v2"
Row = tuple[int, str | None, GidType | None]

LL = "fe80::1ac0:4dff:fe10:1"
IP, IP2 = "::ffff:10.0.0.1", "::ffff:10.7.0.1"
USUAL: tuple[Row, ...] = ((0, LL, V1), (1, LL, V2), (2, IP, V1), (3, IP, V2))


def port(*rows: Row, whole: bool | None = True, layer: LinkLayer | None = "Ethernet") -> Port:
    gids = tuple(Gid(host="n1", hca="mlx5_0", port=1, index=i, address=a, type=t) for i, a, t in rows)
    return Port(host="n1", hca="mlx5_0", number=1, link_layer=layer, gids=gids, gids_complete=whole)


CASES: dict[str, tuple[Port, Mapping[str, str], int]] = {
    "the usual table": (port(*USUAL), {}, 3),
    "a VLAN behind does not replace it": (port(*USUAL, (4, IP2, V1), (5, IP2, V2)), {}, 3),
    "of two networks the first": (port(*USUAL[:2], (2, IP2, V2), (3, IP2, V1), (4, IP, V2)), {}, 2),
    "the range chooses the network": (
        port(*USUAL, (4, IP2, V1), (5, IP2, V2)), {"NCCL_IB_ADDR_RANGE": "10.7.0.0/16"}, 5,
    ),
    "a range that is none is ignored": (port(*USUAL), {"NCCL_IB_ADDR_RANGE": "ten/8"}, 3),
    "a range without length is ignored": (port(*USUAL), {"NCCL_IB_ADDR_RANGE": "10.7.0.0"}, 3),
    "a range of the other family is ignored": (port(*USUAL), {"NCCL_IB_ADDR_RANGE": "fd00::/8"}, 3),
    "version 1 asked for": (port(*USUAL), {"NCCL_IB_ROCE_VERSION_NUM": "1"}, 2),
    "only v1 with IPv4: the family decides": (port(*USUAL[:3]), {}, 2),
    "no IPv4 entry stays at 0": (port(*USUAL[:2]), {}, 0),
    "IPv6 asked for": (
        port(*USUAL[:2], (2, "fd00::1", V1), (3, "fd00::1", V2)), {"NCCL_IB_ADDR_FAMILY": "AF_INET6"}, 3,
    ),
    "IPv6 without asking stays at 0": (port(*USUAL[:2], (2, "fd00::1", V1), (3, "fd00::1", V2)), {}, 0),
    "an index set is used blindly": (port(*USUAL), {"NCCL_IB_GID_INDEX": "1"}, 1),
    "even one beyond the table": (port(*USUAL), {"NCCL_IB_GID_INDEX": "99"}, 99),
    "-1 is the default": (port(*USUAL), {"NCCL_IB_GID_INDEX": "-1"}, 3),
    "a word is 0": (port(*USUAL), {"NCCL_IB_GID_INDEX": "auto"}, 0),
    "gaps are empty entries": (port((0, LL, V1), (1, LL, V2), (6, IP, V1), (7, IP, V2)), {}, 7),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_choice_since_2_21(name: str) -> None:
    table, env, expected = CASES[name]
    for version in (MID, NEW, VersionRange(MID, NEW)):
        choice = gid_index(table, env, version)
        assert choice.known, choice
        assert choice.index == expected, choice.reasons
        assert choice.reasons
        if choice.entry is not None:
            assert choice.entry.index == expected


def test_before_2_21_the_default_is_0_and_nothing_is_looked_at() -> None:
    assert gid_index(port(*USUAL), {}, OLD).index == 0
    assert gid_index(port(whole=None), {}, OLD).index == 0
    assert gid_index(port(*USUAL), {"NCCL_IB_GID_INDEX": "3"}, OLD).index == 3


def test_versions_that_do_not_agree() -> None:
    choice = gid_index(port(*USUAL), {}, None)
    assert not choice.known
    assert choice.possible == (0, 3)
    pinned = gid_index(port(*USUAL), {"NCCL_IB_GID_INDEX": "3"}, None)
    assert (pinned.known, pinned.index) == (True, 3)


def test_infiniband_since_2_22_takes_the_flid_entry_or_0() -> None:
    plain = port((0, "fe80::1:2", "IB"), (1, "fe80::1:2", "IB"), layer="InfiniBand")
    routed = port((0, "fe80::1:2", "IB"), (1, "fe80:0:17::1:2", "IB"), layer="InfiniBand")
    env = {"NCCL_IB_GID_INDEX": "3"}
    assert gid_index(plain, env, NEW).index == 0
    assert gid_index(routed, env, NEW).index == 1
    assert gid_index(plain, env, MID).index == 3
    assert not gid_index(port(layer="InfiniBand", whole=None), {}, NEW).known


def test_an_unknown_link_layer_is_open_unless_both_give_the_same() -> None:
    assert not gid_index(port(*USUAL, layer=None), {}, NEW).known
    assert gid_index(port(*USUAL[:2], layer=None), {}, NEW).index == 0


def test_a_table_that_was_not_seen_whole() -> None:
    assert gid_index(port(*USUAL, whole=False), {}, NEW).index == 3  # nothing behind a v2 entry replaces it
    gap = gid_index(port((0, LL, V1), (3, IP, V2), whole=False), {}, NEW)
    assert not gap.known
    assert {1, 2, 3} <= set(gap.possible)
    assert 0 not in gap.possible
    assert not gid_index(port(whole=None), {}, NEW).known


def test_an_entry_whose_type_cannot_be_read() -> None:
    choice = gid_index(port((0, LL, V1), (1, LL, V2), (2, IP, None), (3, IP, V2)), {}, NEW)
    assert not choice.known
    assert choice.possible == (2, 3)


_ROWS = st.lists(
    st.tuples(st.sampled_from([LL, IP, IP2, "fd00::1", "::"]), st.sampled_from(["RoCE v1", "RoCE v2"])),
    min_size=1, max_size=6,
)  # fmt: skip


@examples(200)
@given(_ROWS, st.sampled_from(["AF_INET", "AF_INET6"]), st.data())
def test_an_answer_with_gaps_is_the_answer_of_the_whole_table(
    rows: list[tuple[str, GidType]], family: str, data: st.DataObject
) -> None:
    env = {"NCCL_IB_ADDR_FAMILY": family}
    full = tuple((i, a, t) for i, (a, t) in enumerate(rows))
    shown: list[Row] = []
    for index, address, kind in full:
        fate = data.draw(st.integers(0, 5))
        if fate == 1:
            shown.append((index, None, None))
        elif fate == 2:
            shown.append((index, address, None))
        elif fate:
            shown.append((index, address, kind))
    whole: GidChoice = gid_index(port(*full), env, NEW)
    partial = gid_index(port(*shown, whole=False), env, NEW)
    assert whole.known
    if partial.known:
        assert partial.index == whole.index
    elif partial.possible:
        last = max((index for index, _, _ in shown), default=0)
        assert whole.index in partial.possible or (whole.index or 0) > last
