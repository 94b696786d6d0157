"""The page of a rule says in words what its conditions ask for: nobody can look into a derived field."""

from __future__ import annotations

from pathlib import Path as Path_

from asked_for import derived_steps

from ncdiag import catalogue
from ncdiag.apps.explaining.conditions import meanings
from ncdiag.engine.areas import words_of
from ncdiag.engine.compiling import program_of
from ncdiag.engine.load import rule_files
from ncdiag.engine.schema import Rule


def test_every_derived_field_of_every_rule_has_words() -> None:
    rules: tuple[Rule, ...] = catalogue.rules()
    seen = 0
    for rule in rules:
        said, program = meanings(rule), program_of(rule)
        for text, tree in zip((*rule.when, *rule.unless), (*program.when, *program.unless), strict=True):
            wanted = set(derived_steps(tree))
            seen += len(wanted)
            told = {line.partition(":")[0]: line.partition(": ")[2] for line in said[text] if line[:6] != "words."}
            assert told.keys() == wanted, (rule.name, text)
            assert all(told.values()), (rule.name, text)
    assert seen > sum(bool(rule.when) for rule in rules)


def test_every_named_list_is_used_and_shown(project: Path_) -> None:
    folders = {path.parent for path in rule_files(project / "rules")}
    named = {(folder.name, name) for folder in folders for name in words_of(folder)}
    shown = {
        (rule.area, line[len("words.") :].partition(":")[0])
        for rule in catalogue.rules() for said in meanings(rule).values() for line in said if line.startswith("words.")
    }  # fmt: skip
    assert named
    assert shown == named
