"""What people tell of single RDMA cards: those for other uses, and those whose counters stand still."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.parsers.user_text import cards

IDLE = {
    "The counters of mlx5_3 do not move, all other cards show 40 GB/s.": "mlx5_3",
    "port_xmit_data of mlx5_5 does not grow while the other seven send 30 GB every ten seconds.": "mlx5_5",
    "tx of mlx5_3 stays flat, the rest climbs": "mlx5_3",
    "The counters grow on all ports except mlx5_4.": "mlx5_4",
    "bnxt_re2 counters are unchanged, the others increase.": "bnxt_re2",
    "mlx5_6 的计数器不变，其他的都在增长": "mlx5_6",
}
ASIDE = {
    "mlx5_8 is the card of the file system.": ["mlx5_8"],
    "mlx5_8 and mlx5_9 carry the NFS traffic.": ["mlx5_8", "mlx5_9"],
    "The storage NICs are mlx5_2, mlx5_7.": ["mlx5_2", "mlx5_7"],
    "We have eight cards (mlx5_4 for management).": ["mlx5_4"],
    "mlx5_bond_0: front-end network": ["mlx5_bond_0"],
    "The counters of mlx5_5 stay flat because it is the storage card, the others grow.": ["mlx5_5"],
}
NOTHING = (
    "The counters of mlx5_3 and of the others grow.", "Do the counters of mlx5_3 stay flat while the others grow?",
    "mlx5_3 is slower than the others.", "The counters of mlx5_3 do not move.", "If mlx5_3 stays flat, replace it.",
    "The error counters of mlx5_0 grow.",
)  # fmt: skip


@pytest.mark.parametrize(("said", "card"), IDLE.items())
def test_a_card_whose_counters_stand_still_while_others_grow(said: str, card: str) -> None:
    assert cards.read(said) == [("card-idle", card)]


@pytest.mark.parametrize(("said", "names"), ASIDE.items())
def test_cards_for_other_uses(said: str, names: list[str]) -> None:
    assert cards.read(said) == [("card-aside", name) for name in names]


@pytest.mark.parametrize("said", NOTHING)
def test_what_says_nothing_of_the_kind(said: str) -> None:
    assert cards.read(said) == []


def test_long_sentences_take_linear_time() -> None:
    assert_linear_time(cards.read, lambda n: "counters mlx5_1 stay flat other " * n, 400)
