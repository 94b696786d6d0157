"""How long people say that something lasts: what it is of, in seconds; nothing where a number is no length."""

from __future__ import annotations

import pytest

from ncdiag.parsers.user_text.lengths import Length, read


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Saving takes about 12 minutes on our storage.", [Length("saving", 720.0)]),
        ("a 20-minute checkpoint", [Length("saving", 1200.0)]),
        ("We evaluate on rank 0 only, which takes 45 minutes, and the others wait.", [Length("evaluating", 2700.0)]),
        ("The main process downloads the model (about 25 min over our line).", [Length("downloading", 1500.0)]),
        ("Tokenizing takes ~2h on one process.", [Length("preparing", 7200.0)]),
        ("Our evaluation runs for half an hour.", [Length("evaluating", 1800.0)]),
        ("Loading the dataset took 1800 s before the barrier.", [Length("loading", 1800.0)]),
        ("保存模型需要十分钟，其他进程退出。", [Length("saving", 600.0)]),
        ("The default timeout of 30 minutes is used.", [Length("limit", 1800.0)]),
        ("All ranks other than 0 fail after 10 minutes.", [Length("limit", 600.0)]),
        ("The gateway drops idle connections after 300 seconds.", [Length("idle-limit", 300.0)]),
        ("The idle timeout of the load balancer is 350 s.", [Length("idle-limit", 350.0)]),
        ("Ranks pause for 6 minutes.", [Length("pause", 360.0)]),
    ],
)
def test_a_length_is_that_of_its_clause(sentence: str, told: list[Length]) -> None:
    assert read(sentence) == told


@pytest.mark.parametrize(
    "sentence",
    [
        "We save a checkpoint every 30 minutes.",
        "Saving takes less than 5 minutes.",
        "It hangs after 45 minutes.",
        "It hangs for 20 minutes while saving.",
        "The evaluation was fine 10 minutes ago.",
        "After 10 minutes of training the evaluation starts.",
        "The job crashes after 2 minutes.",
        "We run 8 GPUs at 100 GB/s.",
        "If the evaluation took 45 minutes, would it matter?",
    ],
)
def test_what_repeats_or_dates_or_is_only_asked_is_none(sentence: str) -> None:
    assert read(sentence) == []
