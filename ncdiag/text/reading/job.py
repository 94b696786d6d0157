"""Merge the observations of all readings into a job, with each setting as NCCL would read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.facts.settings import resolved
from ncdiag.nccl import environment
from ncdiag.text.reading.model import Reading


def job_of(readings: Iterable[Reading], more: Iterable[Observation] = ()) -> Job:
    """Merge the observations of all sources; events keep the order of the input."""
    observations: list[Observation] = []
    base = 0
    for reading in readings:
        observations += [_ordered(o, base) for o in reading.observations]
        base += reading.lines + 1
    observations += more
    return resolved(merge(observations), environment.resolve_fields)


def _ordered(observation: Observation, base: int) -> Observation:
    if observation.entity != "Event":
        return observation
    return msgspec.structs.replace(observation, fields={**observation.fields, "order": base + observation.span.line})


def facts_of(sections: Mapping[str, Sequence[str]], host: str | None = None) -> Job:
    """The facts of texts given by section kind, read as one paste.

    Used for the examples of rules. ``host`` is put above them as a heading.
    """
    from ncdiag.text.reading.one import read_source  # the hosts of a sweep do not need this
    from ncdiag.text.sources.files import TextSource

    texts = [text.strip("\n") for found in sections.values() for text in found]
    heading = f"=== {host} ===\n" if host else ""
    source = TextSource.of_bytes("example", (heading + "\n".join(texts) + "\n").encode())
    return job_of([read_source(source)])
