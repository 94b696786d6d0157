"""What goes wrong with a job, in the words that rules, facts and reports share."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact

What = Literal[
    "cannot-start", "fails-at-init", "hangs", "slow", "crashes", "wrong-results", "not-used", "memory-grows", "fails"
]
Phase = Literal["rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end"]

PHASES: tuple[Phase, ...] = ("rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end")
"""In the order in which a job goes through them."""
SET_UP: frozenset[Phase | None] = frozenset({"rendezvous", "bootstrap", "init", "connect"})
"""The phases before a communicator is complete."""
FAILING: frozenset[What] = frozenset({"cannot-start", "fails-at-init", "crashes", "fails"})
"""Ways to fail; ``fails`` alone says no more than that."""


class SeenComplaint(Fact, frozen=True, kw_only=True):
    """What the input itself shows to go wrong (derived, `ncdiag.messages.vocabulary.seen`).

    ``phase`` is how far the job or the communicator had come, None if not known; ``where`` names ranks and hosts
    (``ranks 0-3 on n1``), empty where nobody does; ``text`` is a sentence about it.
    """

    what: What
    phase: Phase | None = None
    where: str = ""
    text: str = ""


Step = Literal["first-failure", "first-to-give-up", "first-end", "last"]
OrderedBy = Literal["time", "line", "wait", "none"]


class Moment(Fact, frozen=True, kw_only=True):
    """A point of a job's end (derived, `ncdiag.messages.vocabulary.timeline`).

    ``what``: ``first-failure``, ``first-to-give-up`` where somebody waited in vain, ``first-end`` of a process, or the
    ``last`` that ranks did. ``who`` names ranks and hosts. ``time`` is seconds since the epoch by the median host's
    clock, None without a stamp. ``ordered_by`` says what makes it the first: stamps, the order of the lines in one
    source, ``wait`` (the others only gave up waiting), or ``none``: nobody can tell which of several came first.
    """

    what: Step
    who: str
    text: str
    time: float | None = None
    ordered_by: OrderedBy = "none"


class RuledOut(Fact, frozen=True, kw_only=True):
    """What the input shows not to be the cause (derived, `ncdiag.messages.vocabulary.ruled_out`).

    ``what`` names it for people (``the network between hosts``), ``because`` says what shows it. ``areas`` are those of
    the rules that mention it: where one of them finds a fault, nothing is ruled out.
    """

    what: str
    because: str
    areas: tuple[str, ...] = ()
