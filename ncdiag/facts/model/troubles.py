"""Kinds of problems and phases of a job, shared by rules, facts and reports."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact

What = Literal[
    "cannot-start", "fails-at-init", "hangs", "slow", "crashes", "wrong-results", "not-used", "memory-grows", "fails"
]
Phase = Literal["rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end"]

PHASES: tuple[Phase, ...] = ("rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end")
"""All phases, in the order in which a job goes through them."""
SET_UP: frozenset[Phase | None] = frozenset({"rendezvous", "bootstrap", "init", "connect"})
"""The phases before a communicator is complete."""
FAILING: frozenset[What] = frozenset({"cannot-start", "fails-at-init", "crashes", "fails"})
"""The kinds of problems that are failures; ``fails`` is used where no more is known."""


class SeenComplaint(Fact, frozen=True, kw_only=True):
    """A problem that the input itself shows (derived, `ncdiag.messages.vocabulary.seen`).

    ``phase`` is how far the job or the communicator had come, None if unknown. ``where`` names ranks and hosts (``ranks
    0-3 on n1``), empty where unknown. ``text`` is a sentence about the problem.
    """

    what: What
    phase: Phase | None = None
    where: str = ""
    text: str = ""


Step = Literal["first-failure", "first-to-give-up", "first-end", "last"]
OrderedBy = Literal["time", "line", "wait", "none"]


class Moment(Fact, frozen=True, kw_only=True):
    """A point in time at the end of a job (derived, `ncdiag.messages.vocabulary.timeline`).

    ``what`` is ``first-failure``, ``first-to-give-up`` (a wait that timed out), ``first-end`` (of a process), or
    ``last`` (the last thing that ranks did). ``who`` names ranks and hosts. ``time`` is in seconds since the epoch by
    the clock of the median host, None without a timestamp. ``ordered_by`` says what shows that it is the first:
    ``time`` (timestamps), ``line`` (the order of lines in one source), ``wait`` (the others only timed out waiting), or
    ``none`` (it is unknown which of several came first).
    """

    what: Step
    who: str
    text: str
    time: float | None = None
    ordered_by: OrderedBy = "none"


class RuledOut(Fact, frozen=True, kw_only=True):
    """Something that the input shows not to be the cause (derived, `ncdiag.messages.vocabulary.ruled_out`).

    ``what`` is its name for readers (``the network between hosts``), ``because`` the evidence. ``areas`` are the areas
    of the rules about it: where a rule of one of them reports a problem, it is not ruled out.
    """

    what: str
    because: str
    areas: tuple[str, ...] = ()
