"""Every key that a corpus of specimens may ask for is answered by the adapter of its kind (tests/score)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import score_corpus
from specimens import FIXTURES

ADAPTERS = sorted(path.stem for path in score_corpus.ADAPTERS.glob("*.py"))
ALSO = {"flight_recorder": ("fr_trace",)}
"""Kinds whose specimens tell what a truth of another kind asks."""
COUNTED = {"sample", "gpu_nic_distance"}
"""Keys whose shape names what one specimen held: counters, devices."""
FIELD = re.compile(r"(\w+): ")
TYPES: dict[str, type | tuple[type, ...]] = {
    "bool": bool,
    "int": int,
    "str": str,
    "number": (int, float),
    "list": list,
    "dict": dict,
    "{": dict,
}


def answers(kind: str) -> dict[str, list[Any]]:
    """What the adapter says of our own specimens of a kind: the values of each key, None left out."""
    module = score_corpus.adapter(kind)
    assert module is not None, f"tests/score/{kind}.py is missing"
    found: dict[str, list[Any]] = {}
    for folder in (kind, *ALSO.get(kind, ())):
        for path in sorted((FIXTURES / folder).glob("*.txt")):
            for key, value in score_corpus.facts_for(path, kind, module).items():
                found.setdefault(key, []).extend([] if value is None else [json.loads(json.dumps(value))])
    return found


def fits(value: Any, shape: str) -> bool:  # noqa: ANN401
    """True if the value has one of the types that the shape names at its top (``list[str] or null``)."""
    names = [re.match(r"\{|\w+", part) for part in shape.split(" or ")]
    types = [TYPES[name[0]] for name in names if name is not None and name[0] != "null"]
    return any(isinstance(value, t) and (t is bool or not isinstance(value, bool)) for t in types)


@pytest.mark.parametrize("kind", ADAPTERS)
def test_every_key_of_a_kind_has_an_answer_of_its_shape(kind: str, shared: Path) -> None:
    told = json.loads((shared / "corpus" / "truth_keys.json").read_text())["kinds"]
    found = answers(kind)
    unanswered = [key for key in told[kind] if not found.get(key)]
    assert not unanswered, f"no specimen of {kind} has an answer to {unanswered}"
    wrong = [(key, value) for key, shape in told[kind].items() for value in found[key] if not fits(value, shape)]
    assert not wrong
    names = {(key, name) for key, shape in told[kind].items() if key not in COUNTED for name in FIELD.findall(shape)}
    assert not sorted(names - {(key, name) for key in told[kind] for value in found[key] for name in inner(value)})


def inner(value: Any) -> set[str]:  # noqa: ANN401
    """The names of fields anywhere in a value."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return set(value if isinstance(value, dict) else ()).union(*(inner(part) for part in parts))


def test_every_kind_of_the_truths_has_an_adapter(shared: Path) -> None:
    told = json.loads((shared / "corpus" / "truth_keys.json").read_text())["kinds"]
    assert set(told) == set(ADAPTERS)
