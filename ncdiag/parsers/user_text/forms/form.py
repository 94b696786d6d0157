"""What a form of a trouble is, and the ways in which people say it."""

from __future__ import annotations

from typing import NamedTuple


class Way(NamedTuple):
    """A subject and what is said of it, in the notation of the vocabulary.

    Without a subject, ``said`` is the whole. ``unless``: what must not be in the sentence; ``also``: what must be.
    """

    subject: str
    said: str
    unless: str = ""
    also: str = ""


class Form(NamedTuple):
    """A form: its name, the kind of trouble, and how people say it.

    ``of``: the kinds of complaints of the same sentence that it describes more closely.
    """

    name: str
    what: str
    of: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
