"""Answers come home through whatever mixes, labels or cuts lines."""

from __future__ import annotations

import base64
import gzip
import os
import random

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear

from ncdiag.agent.wrap import MARK, wrapped
from ncdiag.apps.cluster import envelope
from ncdiag.apps.cluster.envelope import Envelopes

NOISE = ["Welcome to n1!", "", f"{MARK}", f"{MARK} n1 x y", "srun: warning: x", f"{MARK} n1 end", "\x1b[0m", "1: "]


def sent_lines(data: bytes, host: str) -> list[str]:
    return "".join(wrapped(data, host)).splitlines(keepends=True)


@examples(60)
@given(
    st.dictionaries(st.sampled_from(["n1", "n2", "gpu-07.site"]), st.binary(max_size=4000), min_size=1),
    st.sampled_from(["", "3: ", "[1,0]<stdout>:", "n7: "]), st.randoms(use_true_random=False),
)  # fmt: skip
def test_lines_come_in_any_order(sent: dict[str, bytes], label: str, order: random.Random) -> None:
    lines = [line for host, data in sent.items() for line in sent_lines(data, host)] + NOISE
    order.shuffle(lines)
    taken = Envelopes()
    for line in lines:
        taken.take(f"{label}{line}")
    assert {host: taken.data(host) for host in taken.hosts()} == sent


def test_lines_are_short_and_none_goes_across_the_border_of_a_record() -> None:
    """mpirun reads 4,096 bytes at once and puts those of other ranks between them."""
    text = "".join(wrapped(os.urandom(10_000), "h" * 60))
    assert max(len(line.rstrip()) for line in text.splitlines()) < 700
    assert len(text) % 4096 == 0
    assert all(text[end] == "\n" for end in range(4095, len(text), 4096))


def test_lines_that_were_joined_are_both_taken() -> None:
    taken = Envelopes()
    for one, other in zip(sent_lines(b"x", "n1"), sent_lines(b"y", "n2"), strict=True):
        assert taken.take(f"{one.rstrip()}   {other}")
    assert (taken.data("n1"), taken.data("n2")) == (b"x", b"y")


def test_work_grows_with_the_number_of_hosts() -> None:
    def lines(count: int) -> list[str]:
        return [line for number in range(count) for line in sent_lines(b"x", f"n{number}")]

    def take(lines: list[str]) -> None:
        taken = Envelopes()
        for line in lines:
            taken.take(line)
            taken.whole()

    assert_linear(take, lines, 500)


def test_a_host_that_never_stops_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope, "_MOST", 1000)
    taken = Envelopes()
    for line in sent_lines(os.urandom(3000), "n1"):
        taken.take(line)
    with pytest.raises(ValueError, match="too long"):
        taken.data("n1")


def test_an_answer_may_come_twice_if_it_is_the_same() -> None:
    taken = Envelopes()
    for line in 2 * sent_lines(b"x", "n1"):
        assert taken.take(line)
    assert (taken.data("n1"), taken.whole()) == (b"x", 1)


@pytest.mark.parametrize("order", ["first", "last", "between"])
def test_what_another_sends_in_the_name_of_a_host_is_not_taken_for_its_answer(order: str) -> None:
    """srun and mpirun do not say who sent a line; the host itself answers too, and the two differ."""
    own, other = sent_lines(os.urandom(3000), "n1"), sent_lines(b"all is well", "n1")
    lines = {"first": other + own, "last": own + other, "between": own[:1] + other + own[1:]}[order]
    taken = Envelopes(["n1", "n2"])
    for line in [*lines, *sent_lines(b"y", "n2")]:
        taken.take(line)
    with pytest.raises(ValueError, match="two different answers arrived under its name"):
        taken.data("n1")
    assert taken.data("n2") == b"y"


@pytest.mark.parametrize("line", ["7 AAAA", "0 AAAA", "end 9"])
def test_one_line_that_does_not_belong_is_enough(line: str) -> None:
    taken = Envelopes()
    for each in [*sent_lines(b"x", "n1"), f"{MARK} n1 {line}"]:
        taken.take(each)
    with pytest.raises(ValueError, match="under its name"):
        taken.data("n1")


def test_only_hosts_that_were_asked_are_heard() -> None:
    taken = Envelopes(["n1", "a.west", "a.east"])
    for name in ("n1.cluster", "n7", "a", "a.west"):
        for line in sent_lines(name.encode(), name):
            assert taken.take(line)
    assert {host: taken.data(host) for host in taken.hosts()} == {"n1": b"n1.cluster", "a.west": b"a.west"}


def test_names_with_odd_letters_stay_one_word() -> None:
    taken = Envelopes()
    for line in sent_lines(b"x", "a b\n"):
        taken.take(line)
    assert taken.hosts() == ["a_b_"]


def test_a_known_sender_counts_more_than_what_he_calls_himself() -> None:
    taken = Envelopes()
    for line in sent_lines(b"x", "localhost"):
        taken.take(line, "n7")
    assert taken.data("n7") == b"x"


def test_what_gzip_packed_is_read_as_well() -> None:
    text = base64.b64encode(gzip.compress(b"from a shell")).decode()
    taken = Envelopes()
    taken.take(f"{MARK} n1 0 {text}")
    taken.take(f"{MARK} n1 end 1")
    assert taken.data("n1") == b"from a shell"


def test_a_lost_or_damaged_part_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = sent_lines(os.urandom(3000), "n1")
    for kept in (lines[1:], lines[:-1], lines[:1] + lines[2:]):
        taken = Envelopes()
        for line in kept:
            taken.take(line)
        with pytest.raises(ValueError, match="part of its answer is missing"):
            taken.data("n1")
    damaged = Envelopes()
    for line in [lines[0].rstrip()[:-40] + "A" * 40, *lines[1:]]:
        damaged.take(line)
    with pytest.raises(ValueError, match="damaged"):
        damaged.data("n1")
    monkeypatch.setattr(envelope, "LIMIT", 1000)
    bomb = Envelopes()
    for line in sent_lines(b"\0" * 5000, "n1"):
        bomb.take(line)
    with pytest.raises(ValueError, match="too long"):
        bomb.data("n1")
