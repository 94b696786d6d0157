"""Sentences in which people complain in words of their own, and healthy ones beside them."""

from __future__ import annotations

import pytest

from ncdiag.parsers import _complaints


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("Only 3 of 4 workers show up.", "fails"),
        ("Only one of the nodes joins.", "fails"),
        ("The second node does not join.", "fails"),
        ("Two of the pods never register with the head.", "fails"),
        ("srun gives me only one task.", "fails"),
        ("torchrun starts just one process on each host.", "fails"),
        ("The pods restart again and again.", "fails"),
        ("The workers keep restarting.", "fails"),
        ("Only one of the workers starts.", "fails"),
        ("The ranks are out of sync after a resume.", "fails"),
        ("nccl-tests works but PyTorch doesn't.", "fails"),
        ("It works on one host but on two it will not.", "fails"),
        ("Gloo is fine, NCCL refuses.", "fails"),
        ("Peer access between the GPUs is impossible.", "fails"),
        ('How do I get rid of "Address already in use"?', "fails"),
        ("The workers keep waiting for each other.", "hangs"),
        ("Both ranks are waiting for the other.", "hangs"),
        ("Of two identical servers, one is half as fast.", "slow"),
        ("perf dropped after the BIOS update", "slow"),
    ],
)
def test_a_trouble_is_read_from_the_class_of_its_words(sentence: str, what: str) -> None:
    assert _complaints.find(sentence) == what


@pytest.mark.parametrize(
    "sentence",
    [
        "We use only one of the two nodes.",
        "Each worker starts just one thread.",
        "All pods register with the head.",
        "It works on one host but we want to use two.",
        "The workers wait for the head before they start.",
        "We restart the pods every night.",
        "The clocks of the ranks need not be in sync.",
        "Half as many GPUs are enough.",
        "The loss keeps restarting from a warm learning rate.",
        "The exporter pods restart every 24 hours by design.",
        "Only two of our nodes start with the new image this week.",
        "Only one of the workers registers the metrics.",
        "torchrun starts only one worker per GPU.",
        "srun starts only one task, as it should.",
        "The clocks of the hosts are out of sync by 2 ms.",
        'I want to get rid of "torchrun" and use srun.',
        'How do I get rid of "UserWarning: x" in the log?',
        "The ranks are waiting for the others as they should.",
    ],
)
def test_what_is_as_it_should_be_is_no_trouble(sentence: str) -> None:
    assert _complaints.find(sentence) is None
