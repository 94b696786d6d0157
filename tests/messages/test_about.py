"""What is known of events: every failure has a category, what it means, and a reason where its line gives one."""

from __future__ import annotations

import pytest

from ncdiag.facts.model import FAILURES, Event
from ncdiag.facts.view import View
from ncdiag.knowledge.floor import meaning
from ncdiag.messages import about
from ncdiag.messages.load import own_messages
from ncdiag.messages.vocabulary.reasons import category as found_category
from ncdiag.messages.vocabulary.reasons import error_name
from ncdiag.messages.vocabulary.reasons import reason as found_reason
from ncdiag.text.reading.job import facts_of


def test_every_failure_has_a_category_that_is_used() -> None:
    book = about.book()
    failures = {message.event for message in own_messages() if message.kind in FAILURES}
    assert {name for name in failures if not about.category(name)} == set()
    used = {entry.category for entry in book.events.values()}
    assert set(book.categories) - used == set()
    assert all(entry.meaning for name, entry in book.events.items() if name in failures and entry.kinds != ("echo",))


def test_no_category_is_everything() -> None:
    book = about.book()
    largest = max(len(about.events_of(name)) for name in book.categories)
    assert largest < len(book.events) / 10
    assert about.category("no-such-event") is None


WARN = "n1:4:5 [0] NCCL WARN "
CONNECT = WARN + "socketStartConnect: Connect to 10.1.2.4<40815> failed : "
DONE = WARN + "NET/IB : Got completion with "


def judged(line: str) -> tuple[Event, View]:
    view = View(facts_of({"nccl_log": [line]}))
    return view.job.events[0], view


@pytest.mark.parametrize(
    ("line", "category", "reason", "name"),
    [
        (CONNECT + "Verbindungsaufbau abgelehnt", "tcp-connect", "refused", "ECONNREFUSED"),
        (CONNECT + "Host is down", "tcp-connect", "unreachable", "EHOSTDOWN"),
        (DONE + "error 12, opcode 0, len 0, vendor err 129", "completion", "no-answer", None),
        (WARN + "Error: failed to extend /dev/shm/nccl-a1B2c3 to 9637892 bytes", "shm-create", None, None),
        (WARN + "Cuda failure 802 'system not yet initialized'", "cuda-call", "fabric-not-ready",
         "cudaErrorSystemNotReady"),
    ],
)  # fmt: skip
def test_the_reason_of_a_line(line: str, category: str, reason: str | None, name: str | None) -> None:
    event, view = judged(line)
    assert found_category(event, view) == category
    assert (found_reason(event, view), error_name(event, view)) == (reason, name)
    assert meaning(event, view)
