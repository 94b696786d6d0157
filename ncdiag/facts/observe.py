"""Observations: what one parser read, before it is merged with the results of other parsers.

A parser yields observations and nothing else. ``fields`` are plain values under the field names of the fact type that
``entity`` names (`ncdiag.facts.model`); a field that the text does not contain is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from ncdiag.base.errors import contained, suggestion
from ncdiag.base.spans import Section, Span
from ncdiag.facts.model.declared import observed

Standing = Literal["process", "live", "conf", "manifest", "default"]
"""The rank of a source when two disagree, strongest first.

The values are: what the process echoed, a live reading or tool output, a configuration file, a launch line or manifest.
A ``default`` applies where no other source has a value, and is replaced without a conflict.
"""


class Observation(msgspec.Struct, frozen=True, kw_only=True, gc=False):  # as a span, never part of a cycle
    """One reading of one entity.

    ``key`` are the values of the fields in ``KEY`` of the fact type; () where every reading is a separate fact. Its
    last parts may be among ``fields`` instead. ``host`` None means the host of the section, else the merger decides
    (``HOST`` of the fact type). ``complete`` on an observation of Host names kinds of sections that were seen whole.
    """

    entity: str
    span: Span
    key: tuple[str | int | None, ...] = ()
    host: str | None = None
    fields: dict[str, Any] = {}
    standing: Standing = "live"


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """The result of parsing a section; ``unread`` are indices into ``section.lines`` of lines that were not understood.

    ``complete``: does the section show its whole collection (an unbroken ``lsmod`` or ``ip addr``), so that a missing
    item is known to be absent?
    """

    observations: tuple[Observation, ...] = ()
    unread: tuple[int, ...] = ()
    complete: bool = False


def observe(  # noqa: PLR0913  (the parts of an observation are what they are)
    section: Section, index: int, entity: str, key: tuple[str | int | None, ...] = (), *, standing: Standing = "live",
    host: str | None = None, **fields: Any,  # noqa: ANN401
) -> Observation:  # fmt: skip
    """Return an observation read from ``section.lines[index]``; fields that are None are left out.

    A shorthand for parsers.
    """
    return Observation(
        entity=entity, key=key, host=host or section.host, span=section.span(index), standing=standing,
        fields={name: value for name, value in fields.items() if value is not None},
    )  # fmt: skip


class FieldError(Exception):
    """A parser produced a field, or a type of facts, that does not exist."""


def not_declared(observations: Iterable[Observation]) -> tuple[str, ...]:
    """Return phrases for the report: observed fields and types that no type of facts declares, each name once.

    They are left out of the job. They are errors of a parser, so that tests (`ncdiag.base.errors.strict`) raise a
    FieldError instead.
    """
    types = observed()
    found: dict[str, Observation] = {}
    for observation in observations:
        kind = types.get(observation.entity)
        if kind is None or not observation.fields.keys() <= kind.fields:
            for sentence in _sentences(observation):
                found.setdefault(sentence, observation)
    return tuple(
        contained(FieldError(sentence), f"line {seen.span.line} of {seen.span.source} was not read in full: {sentence}")
        for sentence, seen in found.items()
    )


def _sentences(observation: Observation) -> Iterator[str]:
    types, name = observed(), observation.entity
    if name not in types:
        yield _with(f"no type of facts is called {name!r}", suggestion(name, types))
        return
    for field in sorted(observation.fields.keys() - types[name].fields):
        yield _with(
            f"{name} has no field {field!r}",
            suggestion(field, types[name].fields, f"a field is a line of {name} in {types[name].kind.__module__}"),
        )


def _with(sentence: str, hint: str) -> str:
    return f"{sentence}: {hint}" if hint else sentence
