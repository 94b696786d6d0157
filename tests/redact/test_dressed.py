"""Secrets in other clothes are found in all of them, and harmless values in none."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from cleaning import clean
from dressed import CLOTHES, KINDS, OVER, Dressed, left, secrets, twins
from planted import planted

from ncdiag.formats.secrets.hiding import Hiding

Run = Callable[..., Any]

ALLOWED = 0.01
"""The share of secrets that may be left."""


def hide(text: str) -> str:
    """As reports do it."""
    return "\n".join(Hiding().lines(text.split("\n")))


def test_at_most_one_secret_of_a_hundred_is_left() -> None:
    assert len(CLOTHES) >= 24
    assert len(KINDS.split("\n")) >= 30
    texts = list(secrets())
    for cleaned in (clean, hide):
        found = Counter(
            (secret.clothes, secret.name) for secret in texts if left(cleaned(f"first\n{secret.text}\nlast"), secret)
        )
        assert found.total() <= ALLOWED * len(texts), found


def test_harmless_values_stay_in_the_same_clothes() -> None:
    texts = list(twins())
    assert len(texts) > 700
    assert [(twin.clothes, twin.text, made) for twin in texts if (made := hide(twin.text)) != twin.text] == []


def test_whole_lines_in_other_clothes_are_searched() -> None:
    """Lines of programs, people and files, each in all clothes of lines."""
    made = [
        Dressed(name, "", secret, put_on(text))
        for _, text, secret in planted() if "\n" not in text for name, put_on in OVER.items()
    ]  # fmt: skip
    assert len(made) > 5000
    found = Counter(each.clothes for each in made if left(hide(f"first\n{each.text}\nlast"), each))
    assert found.total() <= ALLOWED * len(made), found


def test_a_row_of_a_table_is_searched_for_other_secrets_too() -> None:
    rows = ["user,password,store", "ann,kelp8Meadow,db://ann:plumTrain60@store/x", "bob,n0rdWind77,none", "", "a,b,c"]
    assert hide("\n".join(rows)) == ("user,password,store\nann,***,db://***@store/x\nbob,***,none\n\na,b,c")


@pytest.mark.parametrize("head", ["Content-Transfer-Encoding: base64\n\n", "$ kubectl get secret x -o yaml\n"])
def test_base64_is_decoded_so_that_its_secrets_are_found(head: str, ncdiag: Run) -> None:
    inner = "n1:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>\n" * 3 + "password=hunter2-blue\n"
    code = base64.encodebytes(inner.encode()).decode()
    text = f"{head}{code}\n"
    made = ncdiag("redact", "-", input=text.encode()).stdout.decode()
    assert "password=***" in made
    assert "NCCL INFO Bootstrap : Using eth0:10." in made
    assert code.split()[0] not in made
