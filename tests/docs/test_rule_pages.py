"""The page of each rule and the reference of facts can be made, and their links lead to pages."""

from __future__ import annotations

import re

from ncdiag.apps.explaining import facts
from ncdiag.apps.explaining.rule_pages import INDEX, NOTE
from ncdiag.engine.schema import Rule

Pages = dict[str, str]


def test_every_rule_has_a_page_in_the_index(rules: tuple[Rule, ...], pages_of_rules: Pages) -> None:
    assert pages_of_rules.keys() == {f"{rule.code}.md" for rule in rules} | {INDEX}
    assert set(re.findall(r"\| \[(\w+)\]\(\1\.md\)", pages_of_rules[INDEX])) == {rule.code for rule in rules}


def test_a_page_holds_what_its_rule_says(rules: tuple[Rule, ...], pages_of_rules: Pages) -> None:
    for rule in rules:
        page = pages_of_rules[f"{rule.code}.md"]
        assert page.startswith(f"{NOTE}\n# {rule.code} {rule.name}\n")
        for text in (rule.title, rule.why, *rule.false_positives, *(fix.text for fix in rule.fixes)):
            assert " ".join(text.split()).replace("<", "&lt;") in page, (rule.code, text)
        assert all(example.name in page for example in rule.examples), rule.code


def test_links_lead_to_pages(pages_of_rules: Pages) -> None:
    for name, text in pages_of_rules.items():
        prose = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            assert target in pages_of_rules, (name, target)


def test_the_reference_has_every_fact_and_field() -> None:
    page = facts.page()
    for owner in facts.fact_types():
        entry = re.search(rf"(?ms)^## {owner}\n(.*?)(?=^## |\Z)", page)
        assert entry, owner
        assert [field.name for field in facts.fields(owner) if f"`{field.name}` (" not in entry[1]] == []
