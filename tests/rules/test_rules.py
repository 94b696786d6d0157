"""The rule book as data: every rule proves itself on its own examples, and no condition is there for nothing."""

from __future__ import annotations

import pathlib
import re
import statistics

import pytest
from book import rules

from ncdiag import catalogue
from ncdiag.base import toml
from ncdiag.diagnose import look
from ncdiag.engine.areas import layers_of
from ncdiag.engine.examples import orphans
from ncdiag.engine.load import check_unique, load_file, rule_files
from ncdiag.engine.quality import problems
from ncdiag.engine.schema import EXAMPLES
from ncdiag.engine.scope import Names
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.suspects import quality as signs
from ncdiag.text.reading.job import facts_of

RULES = catalogue.rules_dir()
LONGEST, USUAL, WIDEST = 160, 70, 160
"""Lines of the longest rule and of the median; characters of a line."""
WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def view_of(job: Job) -> View:
    return View(job, environment.resolve_fields)


@pytest.fixture(scope="module")
def names() -> Names:
    return catalogue.names()


@pytest.mark.parametrize("path", rule_files(RULES), ids=lambda path: path.stem)
def test_rule_proves_itself(path: pathlib.Path, names: Names) -> None:
    rule, book = load_file(path, names), catalogue.rules()
    assert problems([rule], facts_of, view_of, book) == []
    assert signs.problems([rule], look) == []


def test_codes_and_names_are_unique() -> None:
    check_unique(rules())


def test_every_rule_has_a_number() -> None:
    waiting = [rule.name for rule in catalogue.rules() if not rule.code[3:].isdigit()]
    assert waiting == [], "once the branch is merged, run `ncdiag rules number --in rules`"


def test_the_scope_of_a_fix_completes_a_phrase_that_begins_with_on() -> None:
    wrong = {
        rule.name: fix.scope for rule in rules() for fix in rule.fixes
        if fix.scope and not re.match(r"(?:all|any|every|each|both|the|this|hosts?|one)\b|\{", fix.scope)
    }  # fmt: skip
    assert not wrong


def test_a_rule_fits_on_a_few_screens() -> None:
    """The examples and the translations are elsewhere."""
    lines = {path.name: path.read_text(encoding="utf-8").splitlines() for path in rule_files(RULES)}
    assert {name: len(held) for name, held in lines.items() if len(held) > LONGEST} == {}
    assert statistics.median(map(len, lines.values())) <= USUAL
    assert {name for name, held in lines.items() if max(map(len, held)) > WIDEST} == set()


def test_rules_are_in_english() -> None:
    """Other languages have their own files (docs/translating.md); an example may be what somebody wrote in one."""
    files = [path for path in RULES.rglob("*.toml") if not path.name.endswith(EXAMPLES)]
    assert [path.name for path in files if WIDE.search(path.read_text(encoding="utf-8"))] == []


def test_examples_are_beside_their_rules() -> None:
    assert orphans(RULES) == []
    inside = re.compile(r"^\[\[example\]\]|^(?:example|unlike) = |^\[text\.", re.MULTILINE)
    assert [path.name for path in rule_files(RULES) if inside.search(path.read_text(encoding="utf-8"))] == []


def test_each_area_has_a_layer_that_its_rules_do_not_repeat() -> None:
    layers = layers_of(RULES)
    stated = {path: toml.loads(path.read_text(encoding="utf-8")).get("layer") for path in rule_files(RULES)}
    assert {path.parent.name for path in stated} == layers.keys()
    assert [path.name for path, layer in stated.items() if layer == layers[path.parent.name]] == []
