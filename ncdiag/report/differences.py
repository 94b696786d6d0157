"""The parts of a report that set hosts, runs or states side by side; `ncdiag.report.model` has the others.

The field names are a promise to tools, as those of the other parts are.
"""

from __future__ import annotations

import msgspec

from ncdiag.base.severity import Weight

FINDING, NOT_FOUND = "finding", "not found"
"""What a change is of that is a finding, and its value on the side that does not have it."""


class Share(msgspec.Struct, frozen=True):
    """Hosts of a comparison, folded (``node[1-3]``), and their number."""

    hosts: str = ""
    nhosts: int = 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Something in which hosts differ. ``name`` is the device or variable, folded where several differ alike.

    ``groups`` has the hosts by the value that they show. ``odd`` are the values of the few where more than half of the
    hosts show one value, the rarest first; empty where no value has so many. ``rules`` are the rules that judge it.
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
    """Something that differs between two runs or states: it was ``before`` and is ``after``.

    ``hosts`` is folded, empty for the job as a whole; ``change`` is the share by which a speed changed (-0.5: half).
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
    """What differs from another run or from a saved state (``source``), the most important first.

    ``equal`` counts the things that were compared and are equal, ``one_sided`` those that only one of the two shows.
    """

    source: str
    changes: tuple[Change, ...] = ()
    equal: int = 0
    one_sided: int = 0
