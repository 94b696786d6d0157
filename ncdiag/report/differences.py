"""The parts of a report that compare hosts, runs or states; `ncdiag.report.model` has the others.

The field names are a stable interface, like those of the other parts.
"""

from __future__ import annotations

import msgspec

from ncdiag.base.severity import Weight

FINDING, NOT_FOUND = "finding", "not found"
"""``what`` of a change that is a finding, and its value on the side without it."""


class Share(msgspec.Struct, frozen=True):
    """Hosts of a comparison, folded (``node[1-3]``), and their number."""

    hosts: str = ""
    nhosts: int = 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """An item in which hosts differ. ``name`` is the device or variable, folded if several differ alike.

    ``groups`` has the hosts by value. ``odd`` are the minority values if more than half of the hosts have the same
    value, rarest first; empty if no value has a majority. ``rules`` are the rules that judge the item.
    """

    what: str
    name: str = ""
    groups: dict[str, Share]
    odd: tuple[str, ...] = ()
    not_seen: Share = Share()
    weight: Weight
    why: str = ""
    rules: tuple[str, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An item that differs between two runs or states: it was ``before`` and is ``after``.

    ``hosts`` is folded, empty for the job as a whole; ``change`` is the relative change of a speed (-0.5: half).
    """

    what: str
    name: str = ""
    before: str
    after: str
    hosts: str = ""
    nhosts: int = 0
    weight: Weight
    why: str = ""
    rules: tuple[str, ...] = ()
    change: float | None = None


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """The differences from another run or from a saved state (``source``), most important first.

    ``equal`` counts the equal items, ``one_sided`` those that only one of the two has.
    """

    source: str
    changes: tuple[Change, ...] = ()
    equal: int = 0
    one_sided: int = 0


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """A value that failed jobs share more often than good ones; ``failed`` and ``good`` count the jobs with it.

    ``of_failed`` and ``of_good`` are the numbers of jobs that show a value of this kind at all.
    """

    kind: str
    value: str
    failed: int
    of_failed: int
    good: int
    of_good: int


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """Many jobs beside each other: the sources of ``failed`` and ``good`` ones, and what the failed ones share.

    ``left_out`` are the sources in which nothing was recognised; ``shared`` has the most telling value first.
    """

    failed: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    shared: tuple[Shared, ...] = ()
