"""A published count of what stopped large training runs, as part of a report; `ncdiag.report.priors` chooses it."""

from __future__ import annotations

import msgspec


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """How often each part was at fault in one published count: no evidence from the input.

    ``what`` names what was counted, ``total`` how many in ``days``; ``parts``: how many in each part (``gpu``,
    ``network``, ``nic``, ``host``, ``software``, ``maintenance``, ``unknown``), the most frequent first. ``source``,
    ``address``: where it is published; ``checked``: the day on which it was read. ``every``: days from one to the next
    at this rate in a job of the size of the input's, None if the sizes cannot be compared.
    """

    source: str
    address: str
    checked: str
    what: str
    total: int
    days: int
    parts: dict[str, int]
    every: float | None = None
