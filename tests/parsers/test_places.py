"""The place where the ranks meet, as launchers print it."""

from __future__ import annotations

import pytest

from ncdiag.parsers import _places


@pytest.mark.parametrize(
    ("answer", "is_unread"),
    [("", True), ("Welcome", True), ("*****", True), ("10.7.0.11", False), ("fd00:10::5", False)],
)
def test_deepspeed_reads_what_the_shell_of_the_first_host_prints(answer: str, is_unread: bool) -> None:
    found = _places.find(f"[INFO] [runner.py:417:main] Using IP address of {answer} for node n1")
    assert (found is not None and found.event == "meeting-place-unread") is is_unread
