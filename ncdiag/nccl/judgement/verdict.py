"""Results of checking a variable. `ncdiag.apps.lint` adds places and edits to them; rules read them as facts."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.scalars import Constraint, Version, VersionRange

ValueFault = Literal[
    "not-a-number", "out-of-range", "word-unknown", "has-quotes-or-blanks", "of-another-kind", "empty-counts", "empty"
]
"""Kinds of problems with a value.

``of-another-kind``: an address where a name belongs, a pattern, a word of another program. ``empty``: set to an empty
text, which NCCL reads as unset; ``empty-counts``: set to an empty text, which is not the same as unset.
"""

NameFault = Literal[
    "misspelt", "neighbour-misspelt", "of-others", "unread", "removed", "too-new", "deprecated", "undocumented"
]
"""Kinds of problems with a name.

``misspelt``: similar to a variable of NCCL, or a known mistake. ``unread``: similar to none, and no known program reads
it. ``neighbour-misspelt``: similar to a variable of another program. ``of-others``: looks like NCCL's but is not.
"""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One problem; ``what`` is a sentence without its full stop, ``why`` whole sentences or empty.

    ``versions`` is a constraint such as ``>=2.24`` on the releases of NCCL for which it holds, empty for all. ``mild``:
    it deserves a remark, but is not an error.
    """

    what: str
    why: str = ""
    versions: str = ""
    mild: bool = False

    def holds(self, version: Version | VersionRange | None) -> bool | None:
        """Does it hold for that release? None when it holds for some of the possible releases only."""
        return Constraint.parse(self.versions).admits(version)


class ValueVerdict(Verdict, frozen=True, kw_only=True):
    """A problem with a value; ``right`` is the value that was intended, None when that is unknown."""

    fault: ValueFault
    right: str | None = None


class NameVerdict(Verdict, frozen=True, kw_only=True):
    """A name that has no effect, or will lose it; ``near`` are the names that were probably intended, best first."""

    fault: NameFault
    near: tuple[str, ...] = ()
