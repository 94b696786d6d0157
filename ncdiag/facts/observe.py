"""Observations: what one parser read, before it is merged with what the others read.

A parser yields observations and nothing else. ``fields`` are plain values under the field names of the fact type
named by ``entity`` (`ncdiag.facts.model`); a field that the text does not tell is left out, never guessed.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ncdiag.spans import Section, Span

Standing = Literal["process", "live", "conf", "manifest", "default"]
"""Who is believed when two sources disagree, strongest first: what the process echoed, a live reading or tool output,
a configuration file, a launch line or manifest. A ``default`` holds where nothing else does and gives way in silence.
"""


class Observation(msgspec.Struct, frozen=True, kw_only=True, gc=False):  # as a span, never part of a cycle
    """One reading of one entity.

    ``key`` are the values of the fields that ``KEY`` of the fact type names; () where every reading is a fact of its
    own. Its last parts may be among ``fields`` instead.

    ``host`` None means: the host of the section, else the merger decides (``HOST`` of the fact type). ``complete`` on
    an entity Host names section kinds that were seen whole.
    """

    entity: str
    span: Span
    key: tuple[str | int | None, ...] = ()
    host: str | None = None
    fields: dict[str, Any] = {}
    standing: Standing = "live"


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """What a parser made of a section. ``unread`` are indices into ``section.lines`` that it did not understand.

    ``complete``: the section shows its whole collection (an unbroken ``lsmod`` or ``ip addr``), so absence means
    absence.
    """

    observations: tuple[Observation, ...] = ()
    unread: tuple[int, ...] = ()
    complete: bool = False


def observe(  # noqa: PLR0913  (the parts of an observation are what they are)
    section: Section, index: int, entity: str, key: tuple[str | int | None, ...] = (), *, standing: Standing = "live",
    host: str | None = None, **fields: Any,  # noqa: ANN401
) -> Observation:  # fmt: skip
    """Shorthand for parsers: an observation read from ``section.lines[index]``; fields that are None are left out."""
    return Observation(
        entity=entity, key=key, host=host or section.host, span=section.span(index), standing=standing,
        fields={name: value for name, value in fields.items() if value is not None},
    )  # fmt: skip
