"""What a restart of the job is worth, as part of a report; `ncdiag.report.restart` chooses it."""

from __future__ import annotations

from typing import Literal

import msgspec


class Restart(msgspec.Struct, frozen=True):
    """What a restart of the job is worth: ``word``, and the ``reason``.

    ``fix-first``: it will fail again. ``restart``: the cause does not last. ``restart-without-hosts``: without
    ``hosts`` (folded; empty if the input names none). ``cause`` is the name of the finding or suspect that decides.
    """

    word: Literal["fix-first", "restart", "restart-without-hosts"]
    reason: str
    hosts: str = ""
    cause: str = ""
