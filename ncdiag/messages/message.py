"""A message: one wording in which a program reports one event."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.model import What
from ncdiag.facts.scalars import Constraint
from ncdiag.messages.template import example, parse

Kind = Literal["cause", "echo", "harmless", "fact", "symptom"]
"""The role of a message in a diagnosis.

``cause``: names a fault. ``symptom``: says that something failed, not why. ``echo``: repeats or passes on a fault that
another message reports. ``fact``: reports a state. ``harmless``: sounds alarming and means nothing by itself.
"""


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file says about an event as a whole, for all its wordings there."""

    kind: Kind | None = None
    category: str = ""
    meaning: str = ""
    next: str = ""
    quiet: bool | None = None
    complaint: What | Literal["none"] | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One wording of one event, completed with what its file says about the event.

    ``origin`` is the program that prints it, ``level`` its log level (None: any), ``text`` its template, ``versions``
    the releases of NCCL or RCCL that print it (``""``: any), ``file`` the source file that prints it. ``quiet``: a
    normal line that changes no fact; it is recognised and can be explained, but is not an event of a job. ``exact``:
    other programs say the same words, so that the punctuation is required (`ncdiag.messages.loose` ignores it).
    ``sample`` is a sample line from the message file, often empty; `example` is never empty.
    """

    event: str
    text: str
    origin: str = ""
    level: str | None = None
    versions: str = ""
    kind: Kind | None = None
    meaning: str = ""
    next: str = ""
    sample: str = ""
    file: str | None = None
    quiet: bool | None = None
    exact: bool = False

    @property
    def constraint(self) -> Constraint:
        """The releases that print this wording."""
        return Constraint.parse(self.versions)

    @property
    def example(self) -> str:
        """A line that this wording matches: the sample, or the template with an example value in each hole."""
        return self.sample.strip() or example(parse(self.text))
