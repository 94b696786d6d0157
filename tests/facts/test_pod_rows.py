"""Rows of Kubernetes' events: which pod they are about, and which came later."""

from __future__ import annotations

import pytest

from ncdiag.base.spans import span
from ncdiag.facts.model import Event
from ncdiag.facts.vocabulary.pod_rows import age, are_of_one_pod, is_after


def row(text: str, line: int = 1, source: str = "events") -> Event:
    return Event(event="row", origin="launcher", text=text, order=line, provenance={"": span(source, line, text)})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("  Normal   Killing    3d     kubelet  Container engine failed liveness probe", 259200),
        ("  Normal   Killing    4m (x5 over 31m)  kubelet  Container engine failed", 240),
        ("95s   Warning   Failed   pod/w-0   Failed to pull image", 95),
        ("2m35s   Warning   Failed   pod/w-0   Failed to pull image", 155),
        ("ml   3h12m   Warning   Failed   pod/w-0   Failed to pull image", 11520),
        ("Container engine failed liveness probe, will be restarted", None),
    ],
)
def test_age(text: str, seconds: int | None) -> None:
    assert age(row(text)) == seconds


def test_the_younger_row_is_the_later_one_wherever_it_is_listed() -> None:
    old, young = row("9m  Warning  Failed  pod/w-0  no", 2), row("1m  Normal  Started  pod/w-0  yes", 1)
    assert is_after(young, old)
    assert not is_after(old, young)


def test_rows_of_the_same_age_are_in_order() -> None:
    first, second = row("9m  Warning  Failed  no", 1), row("9m  Normal  Started  yes", 2)
    assert is_after(second, first)
    assert not is_after(first, second)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (row("pod/w-0 a", 1), row("pod/w-0 b", 900), True),
        (row("pod/w-0 a", 1), row("pod/w-1 b", 2), False),
        (row("a", 1), row("b", 9), True),
        (row("a", 1), row("b", 90), False),
        (row("a", 1), row("b", 2, "another file"), False),
        (row("pod/w-0 a", 1), row("b", 2), True),
    ],
)
def test_rows_of_one_pod(one: Event, other: Event, same: bool) -> None:
    assert are_of_one_pod(one, other) is same
