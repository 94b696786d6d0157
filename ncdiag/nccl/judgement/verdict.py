"""What a judgement of a variable says. `ncdiag.apps.lint` adds places and edits to it, rules read it as facts."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.scalars import Constraint, Version, VersionRange

ValueFault = Literal[
    "not-a-number", "out-of-range", "word-unknown", "has-quotes-or-blanks", "of-another-kind", "empty-counts", "empty"
]
"""``of-another-kind``: an address where a name belongs, a pattern, a word of another program. ``empty``: set to
nothing, which NCCL takes for unset; ``empty-counts``: set to nothing, which is not the same as unset."""

NameFault = Literal[
    "misspelt", "neighbour-misspelt", "of-others", "unread", "removed", "too-new", "deprecated", "undocumented"
]
"""``misspelt``: near to a variable of NCCL, or known as a mistake; ``unread``: like none, and nobody is known to read
it. ``neighbour-misspelt`` is near to a variable of another program; ``of-others`` looks like NCCL's and is not."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong. ``what`` is a sentence without its full stop, ``why`` whole sentences or nothing.

    ``versions`` is a constraint such as ``>=2.24`` on the releases of NCCL for which it holds, empty for all.
    ``mild``: worth a remark, no fault of itself.
    """

    what: str
    why: str = ""
    versions: str = ""
    mild: bool = False

    def holds(self, version: Version | VersionRange | None) -> bool | None:
        """True if it holds for that release; None when it holds for a part of those that are possible."""
        return Constraint.parse(self.versions).admits(version)


class ValueVerdict(Verdict, frozen=True, kw_only=True):
    """A value that is not what it seems; ``right`` is the one that was meant, None when that cannot be told."""

    fault: ValueFault
    right: str | None = None


class NameVerdict(Verdict, frozen=True, kw_only=True):
    """A name that has no effect or will lose it; ``near`` are the names that were probably meant, best first."""

    fault: NameFault
    near: tuple[str, ...] = ()
