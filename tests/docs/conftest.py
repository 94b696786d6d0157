"""The generated pages of the documentation, made once."""

from __future__ import annotations

import pytest

from ncdiag import catalogue
from ncdiag.apps.explaining import rule_pages, variable_pages
from ncdiag.engine.schema import Rule


@pytest.fixture(scope="session")
def rules() -> tuple[Rule, ...]:
    """The shipped rules with their examples."""
    return catalogue.rules_with_examples()


@pytest.fixture(scope="session")
def pages_of_rules(rules: tuple[Rule, ...]) -> dict[str, str]:
    """File name to text."""
    return rule_pages.texts(rules)


@pytest.fixture(scope="session")
def pages_of_variables(rules: tuple[Rule, ...]) -> dict[str, str]:
    """File name to text."""
    return variable_pages.texts(rules)
