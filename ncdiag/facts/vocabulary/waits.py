"""Lines of a program that waits for another one and tries again: a single later sign of the job ends the wait."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event

WAITS = frozenset({
    "c10d-connect-failed", "c10d-name-unresolved", "coordination-not-registered", "horovod-ranks-missing",
    "horovod-stalled", "rendezvous-unanswered",
})  # fmt: skip
"""Messages of programs that go on waiting. Without what they wait for, no rank takes a step."""
_TRIES_AGAIN = lazy_regex(r"(?i)\b(?:re-?try(?:ing)?|re-?tries|trying again|(?:try|attempt)\w* to reconnect)\b")
_GIVES_UP = lazy_regex(
    r"(?i)\b(?:no|no more|exceeded|exhausted|maximum|max|after|giv\w+ up|0|out of)\b.{0,30}\b(?:re-?tr|attempt)"
    r"|\b(?:re-?tr(?:y|ies)|attempts?)\b.{0,20}\b(?:exceeded|exhausted|limit|count\w*|reached|failed)\b|\bgiv\w+ up\b"
)
_TRACKED = frozenset({"nccl", "rccl", "plugin", "libfabric"})
"""Programs whose lines name their process, which shows by itself whether it went on."""


def waits(event: Event) -> bool:
    """Does the program that printed the line go on waiting, or try again?"""
    if event.event in WAITS:
        return True
    tries = _TRIES_AGAIN.search(event.text) is not None and _GIVES_UP.search(event.text) is None
    return tries and event.origin not in _TRACKED
