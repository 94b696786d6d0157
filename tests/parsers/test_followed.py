"""The host that a trouble follows, as people say it."""

from __future__ import annotations

import pytest

from ncdiag.parsers.user_text import followed


@pytest.mark.parametrize(
    ("sentence", "host"),
    [
        ("Any job that includes st-05 hangs at the first all_reduce.", "st-05"),
        ("Every run with gpu17 dies with a timeout, all others finish.", "gpu17"),
        ("Jobs fail whenever node st-05 is part of the allocation.", "st-05"),
        ("It hangs as soon as `c1r2-n04` joins.", "c1r2-n04"),
        ("As soon as a4 is included we get 45 GB/s, half of the usual.", "a4"),
        ("If node 7 is used, the bandwidth drops to a tenth.", "node 7"),
        ("All pairs work except those with gpu17.", "gpu17"),
        ("All nodes reach 190 GB/s, but not n12.", "n12"),
        ("Everything is fine on all hosts other than host B.", "host B"),
        ("Without dgx-3 the job runs at full speed.", "dgx-3"),
        ("With --exclude=lrc-a112 it works.", "lrc-a112"),
        ("After we drained gpu-node-09 all runs are stable.", "gpu-node-09"),
        ("The hang happens only on worker-3.", "worker-3"),
        ("Only n7 is slow.", "n7"),
        ("We have narrowed it down to node14.", "node14"),
        ("The problem follows gpu17, whatever rank it has.", "gpu17"),
        ("gpu17 is always the culprit.", "gpu17"),
        ("Busbw falls from 190 to 30 GB/s as soon as n3 takes part.", "n3"),
        ("n1, n2 and n3 together are fine, it hangs when n4 is added.", "n4"),
        ("The same image works on cluster A but on cluster B it hangs.", "cluster B"),
        ("It hangs on n07, n08 is fine.", "n07"),
        ("It runs at 190 GB/s on n1, on n2 it drops to 30 GB/s.", "n2"),
        ("Whenever n7 is part of it, the job does not crash, it just hangs.", "n7"),
        ("Any job that includes n7 works now, jobs with n8 fail.", "n8"),
        ("n1 prints no errors, n2 hangs in the first all-reduce.", "n2"),
        ("gpu16 正常，gpu17 卡住。", "gpu17"),
        ("只要有 gpu17 就卡住。", "gpu17"),
        ("除了 gpu17 之外都正常。", "gpu17"),
        ("排除 node07 就恢复了。", "node07"),
    ],
)
def test_the_host_that_is_named_in_all_that_fails(sentence: str, host: str) -> None:
    assert followed.read(sentence) == host


@pytest.mark.parametrize(
    "sentence",
    [
        "Any job that includes several nodes hangs.",
        "The job on st-05 and st-06 hangs.",
        "Does it hang if st-05 is part of the job?",
        "Maybe it only happens on gpu17.",
        "If gpu17 is used, everything works as well.",
        "All pairs work, gpu17 as well.",
        "It hangs on all nodes but works when only node 7 is used.",
        "Only node 7 and node 8 are slow.",
        "Try it without gpu17.",
        "Without gpu17 it still hangs.",
        "We replaced gpu17 last week.",
        "The job uses n1 to n4 and hangs.",
        "When n3 is used, the log says nothing.",
        "It works on n1 and n2.",
        "It does not work on n1, and on n2 neither.",
        "If we include n7 the job does not hang.",
        "Any job that includes n7 is without errors.",
        "If n7 is in the list and n8 is not, it works.",
        "The hang does not follow n7.",
        "It is not only n7 that is slow.",
    ],
)
def test_a_host_that_is_only_named_is_not_followed(sentence: str) -> None:
    assert followed.read(sentence) is None
