"""The rule book as data: every rule proves itself on its own examples, and no condition is there for nothing."""

from __future__ import annotations

import pathlib

import pytest

from ncdiag import catalogue
from ncdiag.base import toml
from ncdiag.diagnose import look
from ncdiag.engine.load import check_unique, layers_of, load_file, rule_files
from ncdiag.engine.quality import problems
from ncdiag.engine.scope import Names
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.suspects import quality as signs
from ncdiag.text.reading.job import facts_of

RULES = catalogue.rules_dir()


def view_of(job: Job) -> View:
    return View(job, environment.resolve_fields)


@pytest.fixture(scope="module")
def names() -> Names:
    return catalogue.names()


@pytest.mark.parametrize("path", rule_files(RULES), ids=lambda p: p.stem)
def test_rule_proves_itself(path: pathlib.Path, names: Names) -> None:
    rule, book = load_file(path, names), catalogue.rules()
    assert problems([rule], facts_of, view_of, book) == []
    assert signs.problems([rule], look, book) == []


def test_codes_and_names_are_unique() -> None:
    check_unique([load_file(path) for path in rule_files(RULES)])


def test_each_area_has_a_layer_that_its_rules_do_not_repeat() -> None:
    layers = layers_of(RULES)
    stated = {path: toml.loads(path.read_text(encoding="utf-8")).get("layer") for path in rule_files(RULES)}
    assert {path.parent.name for path in stated} == layers.keys()
    assert [path.name for path, layer in stated.items() if layer == layers[path.parent.name]] == []
