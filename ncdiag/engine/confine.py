"""Determine which events a condition can be about, so that rules find them by name, whatever else a log contains."""

from __future__ import annotations

from collections.abc import Collection

from ncdiag.engine.fields import events_with
from ncdiag.messages import about

CATEGORY = "category"
"""The derived field of events whose values are lists of events (`ncdiag.messages.about`)."""


def confined(field: str, value: str | None = None) -> Collection[str] | None:
    """The names of the only events that can have a yes-or-no field, or whose ``category`` is ``value``.

    None if all events can.
    """
    if value is not None:
        return about.events_of(value) if field == CATEGORY else None
    return events_with(field)
