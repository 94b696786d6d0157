"""Merge observations into one job: entities by key, with provenance, and conflicts where sources disagree.

When two sources give different values of a field, the source of higher standing wins (process echo, live reading, conf
file, manifest) and the other value goes to ``Job.conflicts``. When both have the same standing, the field becomes
unknown, and the conflict says so. The order of sources has no effect; only the order of lines within a source has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts import assemble, model
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.entity import Entity, Merged
from ncdiag.facts.model.base import Key
from ncdiag.facts.model.declared import Declared, observed
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange, ip_address

_CONTAINER = lazy_regex(r"[0-9a-f]{12}")


def merge(observations: Iterable[Observation]) -> model.Job:
    """Return the job that the observations describe; values that do not fit the type of their field are dropped."""
    merging = _Merging(list(observations))
    return assemble.job(merging.kinds(), merging.conflicts)


class _Merging:
    """Merges one type of facts after the other, so that only one type at a time is held unbuilt."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations, self._naming = observations, _Naming(observations)
        self._found: list[tuple[int, model.Conflict]] = []

    def kinds(self) -> Iterator[tuple[Declared, list[Merged]]]:
        """Yield the types in the order of their first observations, each with its merged entities in that order."""
        types, numbers = observed(), defaultdict[str, list[int]](list)
        for number, observation in enumerate(self._observations):
            numbers[observation.entity].append(number)
        for name in [name for name in numbers if name in types]:
            yield types[name], self._merged(types[name], numbers.pop(name))

    def conflicts(self) -> tuple[model.Conflict, ...]:
        """The conflicts among the types yielded so far, in the order of the observations."""
        return tuple(conflict for _, conflict in sorted(self._found, key=lambda found: found[0]))

    def _merged(self, kind: Declared, numbers: Iterable[int]) -> list[Merged]:
        found: dict[tuple[str | None, tuple[Any, ...]], Observation | Entity] = {}
        host_of, whole = self._naming.host_of, kind.key
        for number in numbers:
            observation = converted(self._observations[number])
            key = (*observation.key, number) if whole is None else _whole_key(observation, whole)
            place = host_of(observation, kind), key
            before = found.get(place)
            if before is None:
                found[place] = observation
                continue
            if isinstance(before, Observation):
                before = found[place] = Entity.begun(kind, place[0], before)
            conflicts: list[model.Conflict] = []
            before.add(observation, conflicts)
            self._found += [(number, conflict) for conflict in conflicts]
        return [(host, one) for (host, _), one in found.items()]


def _whole_key(observation: Observation, key: Key) -> tuple[Any, ...]:
    """The complete key of an observation; missing last parts are taken from its fields."""
    if len(observation.key) == len(key):
        return observation.key
    rest = key[len(observation.key) :]
    return (*observation.key, *(observation.fields.get(str(name)) for name in rest))


class _Naming:
    """Determines the host of each observation: the one it names, else the only host known, else by `Fact.HOST`."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        named: set[str] = set()
        with_ranks: set[str] = set()
        for observation in observations:
            if observation.host is not None:
                named.add(observation.host)
                if observation.entity == "Rank":
                    with_ranks.add(observation.host)
        short: dict[str, str] = {}
        for name in named:
            label = name if ip_address(name) else name.split(".", 1)[0]
            short[name] = label
        short = _without_container(short, {short[name] for name in with_ranks})
        self._alias = short
        labels = set(short.values())
        self._only = next(iter(labels)) if len(labels) == 1 else None

    def host_of(self, observation: Observation, kind: Declared) -> str | None:
        if observation.host is not None:
            return self._alias[observation.host]
        return {"said": None, "only": self._only, "some": self._only or UNNAMED}[kind.host]


def _without_container(labels: dict[str, str], with_ranks: set[str]) -> dict[str, str]:
    """The labels of hosts; a container in which the ranks ran is the only other host, where nothing else ran ranks.

    Docker names a container by the first twelve hexadecimal digits of its id.
    """
    known = set(labels.values())
    containers = {label for label in known if _CONTAINER.fullmatch(label) and not label.isdecimal()}
    others = known - containers
    if len(containers) != 1 or len(others) != 1 or with_ranks != containers:
        return labels
    (other,) = others
    return {name: other if label in containers else label for name, label in labels.items()}


def converted(observation: Observation) -> Observation:
    """Convert a printed NCCL version into a range, so that versions can be compared."""
    value = observation.fields.get("nccl_version")
    if value is None or isinstance(value, VersionRange):
        return observation
    version = VersionRange.exact(value) if isinstance(value, str) else _attempt(value, VersionRange)
    return msgspec.structs.replace(observation, fields={**observation.fields, "nccl_version": version})


def _attempt(value: Any, target: Callable[..., Any]) -> Any:  # noqa: ANN401
    try:
        return msgspec.convert(value, target)
    except msgspec.ValidationError:
        return None
