"""The words of the report for the codes of its fields: problem, phase, and result."""

from __future__ import annotations

TROUBLES = {
    "cannot-start": "The job cannot start", "fails-at-init": "It fails during setup", "hangs": "It hangs",
    "slow": "It is slow", "crashes": "It crashes", "wrong-results": "Its results are wrong",
    "not-used": "An available feature is not used", "memory-grows": "Its memory use grows", "fails": "It fails",
}  # fmt: skip

PHASES = {
    "rendezvous": "at the rendezvous", "bootstrap": "during the bootstrap", "init": "during communicator setup",
    "connect": "while the ranks connect", "first-collective": "in the first collective",
    "later": "after it had started",
    "end": "at its end",
}  # fmt: skip

STEPS = {
    "first-failure": "failed first", "first-to-give-up": "gave up first", "first-end": "ended first",
    "last": "last seen",
}  # fmt: skip

OUTCOMES = {
    "works": "works with", "fails": "fails with", "unchanged": "not helped by", "other-error": "different error with",
    "slower": "slower with", "faster": "faster with",
    "decides": "what decides is",
}  # fmt: skip

TOLD_PHASES = {
    "rendezvous": "at the rendezvous", "bootstrap": "in the bootstrap", "init": "at init",
    "connect": "while the ranks connect",
    "first-collective": "after init", "later": "after a while", "end": "at the end",
}  # fmt: skip
