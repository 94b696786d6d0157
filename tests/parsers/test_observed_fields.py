"""What parsers and readers of a machine observe has a type, a key and fields that exist, and values that fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from book import swept
from tenth import tenth

from ncdiag.base.spans import Span
from ncdiag.facts.entity import fits
from ncdiag.facts.merge import converted
from ncdiag.facts.model import Interface
from ncdiag.facts.model.declared import Declared, observed
from ncdiag.facts.model.marks import OF_HOST
from ncdiag.facts.observe import Observation
from ncdiag.machine.live import collect
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource, open_sources


def problems(observation: Observation) -> Iterator[str]:
    """What is wrong with it."""
    kind = observed().get(observation.entity)
    if kind is None:
        yield f"no type {observation.entity}"
        return
    if len(observation.key) > len(kind.key or ()):
        yield f"{observation.entity} has a key of {len(kind.key or ())} parts, not {observation.key}"
    for names, value in zip(kind.key or (), observation.key, strict=False):
        if value is not None and not any(fits(kind.kind, name, value) for name in _names(names)):
            yield f"{observation.entity}: {value!r} is no {names}"
    for name, value in converted(observation).fields.items():
        if name not in kind.fields:
            yield f"{observation.entity} has no field {name}"
        elif not _fits(kind, name, value) or (value is None) != (observation.fields[name] is None):
            yield f"{observation.entity}.{name} is not {observation.fields[name]!r}"


def _names(part: str | tuple[str, ...]) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part


def _fits(kind: Declared, name: str, value: Any) -> bool:  # noqa: ANN401
    """A field that names interfaces has what a log says of each; merging finds the host's."""
    if name not in kind.marked[OF_HOST]:
        return fits(kind.kind, name, value)
    items = [value] if isinstance(value, dict) else value
    own = observed()["Interface"].fields
    parts = [part for item in items for part in item.items() if part[0] != "port"]
    return all(field in own and fits(Interface, field, part) for field, part in parts)


def wrong(observations: Iterator[Observation] | tuple[Observation, ...]) -> set[str]:
    return {problem for observation in observations for problem in problems(observation)}


@pytest.mark.sweep
def test_of_every_fixture(project: Path) -> None:
    paths = [path for path in sorted((project / "fixtures").rglob("*")) if path.is_file() and path.suffix != ".json"]
    texts = [path for path in paths if "roots" not in path.parts]
    found = {}
    for path in tenth(texts, lambda path: f"{path.parent.name}/{path.stem}"):
        sources = [source for source in open_sources([str(path)]) if isinstance(source, TextSource)]
        found[path.name] = {problem for source in sources for problem in wrong(read_source(source).observations)}
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.sweep
def test_of_every_example_of_a_rule() -> None:
    found = {}
    for rule in swept():
        for example in rule.examples:
            text = "\n".join(text.strip("\n") for texts in example.sections.values() for text in texts)
            source = TextSource.of_bytes("example", f"{text}\n".encode())
            found[f"{rule.name}: {example.name}"] = wrong(read_source(source).observations)
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_of_every_recorded_machine(project: Path) -> None:
    roots = sorted((project / "fixtures" / "roots").iterdir())
    found = {root.name: wrong(tuple(collect(root).observations)) for root in roots}
    assert len(found) > 2
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize(
    ("entity", "key", "fields", "problem"),
    [
        ("Ports", (), {}, "no type Ports"),
        ("Port", ("mlx5_0", 1, 2), {}, "Port has a key of 2 parts, not ('mlx5_0', 1, 2)"),
        ("Port", ("mlx5_0", "one"), {}, "Port: 'one' is no number"),
        ("Port", ("mlx5_0", 1), {"physical_stat": "LinkUp"}, "Port has no field physical_stat"),
        ("Port", ("mlx5_0", 1), {"state": "Active"}, "Port.state is not 'Active'"),
        ("Rank", (7, 0), {"oob_interface": {"nam": "eth0"}}, "Rank.oob_interface is not {'nam': 'eth0'}"),
        ("Host", (), {"nccl_version": 2}, "Host.nccl_version is not 2"),
    ],
)
def test_what_is_wrong_is_seen(entity: str, key: tuple[Any, ...], fields: dict[str, Any], problem: str) -> None:
    assert list(problems(Observation(entity=entity, key=key, fields=fields, span=Span("x", 1)))) == [problem]
