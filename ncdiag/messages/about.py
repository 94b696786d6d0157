"""What is known about each event, independent of its wording: its category, its meaning, and the next step.

The categories are those of ``categories.toml``; an event names its category in its table of the message files.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Literal

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.facts.model import FAILURES, Phase, What
from ncdiag.messages.load import CATEGORIES, FOLDER, event_tables, own_messages
from ncdiag.messages.match import sources


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A category of failures.

    ``title`` describes it in a sentence; ``layer`` is as in rules, lower is closer to the hardware. ``vague``: such an
    event says that something failed, but not what, unless its reason is one of ``telling``. ``forms`` are events that
    parsers recognise by the form of a line. ``complaint`` is the kind of problem that results (``none``: the job
    continues without it), ``phase`` the phase in which it occurs, where the category determines it.
    """

    title: str
    layer: int
    vague: bool = False
    telling: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    complaint: What | Literal["none"] = "fails"
    phase: Phase | None = None


class Entry(msgspec.Struct, frozen=True):
    """The information about one event."""

    category: str = ""
    kinds: tuple[str, ...] = ()
    meaning: str = ""
    next: str = ""
    complaint: What | Literal["none"] | None = None
    """The kind of problem that results, where it differs from that of the category."""


class Book(msgspec.Struct, frozen=True):
    """All categories by name, and all events."""

    categories: dict[str, Category]
    events: dict[str, Entry]


def build() -> Book:
    """Read both from TOML.

    Raises DefinitionError for a failure without a category, and for a category that does not exist.
    """
    from ncdiag.base import toml

    path = FOLDER / CATEGORIES
    raw = toml.loads(path.read_text(encoding="utf-8"))
    try:
        categories = msgspec.convert(raw, dict[str, Category])
    except msgspec.ValidationError as error:
        raise DefinitionError(str(error), file=str(path)) from None
    of, complaint = _said_once(categories)
    kinds, meaning, following = defaultdict[str, set[str]](set), dict[str, str](), dict[str, str]()
    for message in own_messages():
        kinds[message.event].add(message.kind or "")
        if message.meaning:
            meaning.setdefault(message.event, message.meaning)
        if message.next:
            following.setdefault(message.event, message.next)
    for name, found in kinds.items():
        if found & FAILURES and not of.get(name):
            reason = f"the event {name!r} describes a failure and has no category"
            raise DefinitionError(reason, hint=f'write category = "..." (one of {CATEGORIES}) into [event.{name}]')
    return Book(
        categories,
        {
            name: Entry(
                of.get(name, ""),
                tuple(sorted(kinds[name])),
                meaning.get(name, ""),
                following.get(name, ""),
                complaint.get(name),
            )
            for name in sorted({*kinds, *of})
        },
    )


def _said_once(categories: dict[str, Category]) -> tuple[dict[str, str], dict[str, What | Literal["none"]]]:
    """Two mappings by event: to its category, and to the kind of problem, where the event itself has one."""
    of = {form: name for name, category in categories.items() for form in category.forms}
    complaint: dict[str, What | Literal["none"]] = {}
    for file, line, name, about in event_tables():
        if about.category and about.category not in categories:
            reason = f"the category {about.category!r} of the event {name!r} does not exist"
            hint = suggestion(about.category, categories, f"the categories are those of {CATEGORIES}")
            raise DefinitionError(reason, file=file, line=line, hint=hint)
        if about.category and of.setdefault(name, about.category) != about.category:
            reason = f"the event {name!r} has the categories {of[name]!r} and {about.category!r}"
            raise DefinitionError(reason, file=file, line=line)
        if about.complaint is not None:
            complaint[name] = about.complaint
    return of, complaint


def complaint(event: str) -> What | Literal["none"]:
    """Return the kind of problem that results when this event is a failure."""
    known = category(event)
    return entry(event).complaint or (known.complaint if known is not None else "fails")


@functools.cache
def book() -> Book:
    """Return the categories and events, read once."""
    return compiled.load("events", sources(), build, Book)


def entry(event: str) -> Entry:
    """Return the information about an event; an empty entry for an event that no message has."""
    return book().events.get(event, Entry())


def category(event: str) -> Category | None:
    """Return the category of an event; None when it has none."""
    return book().categories.get(entry(event).category)


def events_of(name: str) -> frozenset[str]:
    """Return the names of the events in a category."""
    return frozenset(event for event, about in book().events.items() if about.category == name)
