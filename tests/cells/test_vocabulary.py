"""The vocabulary of cells is checked when it is compiled, with the file and the word in the error."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag import catalogue
from ncdiag.base.errors import DefinitionError
from ncdiag.cells.vocabulary import OBJECTS, REASONS, build
from ncdiag.engine.load import load_text

GOOD_OBJECTS = '[queue-pair]\nname = "queue pair"\nsays = ["queue pair", "create qp", "cuda*"]\n'
GOOD_REASONS = '[reason.busy]\nname = "in use"\nsays = ["busy"]\n'
RULE = """
code = "SITE100"
name = "a-rule"
area = "site"
severity = "error"
role = "cause"
cells = {cells}
when = ["job.nhosts == 1"]
title = "A cause"
why = "For a reason."
"""


def built(folder: Path, objects: str = GOOD_OBJECTS, reasons: str = GOOD_REASONS) -> None:
    (folder / OBJECTS).write_text(objects, encoding="utf-8")
    (folder / REASONS).write_text(reasons, encoding="utf-8")
    build(folder)


def source(row: str) -> str:
    return f'{GOOD_REASONS}\n[[source]]\nname = "a library"\nfrom = "1.0"\nsays = [{row}]\n'


def test_a_good_vocabulary_is_built(tmp_path: Path) -> None:
    built(tmp_path, reasons=source('["Device in use", "busy", "queue-pair"]'))


@pytest.mark.parametrize(
    ("objects", "reasons", "said"),
    [
        (GOOD_OBJECTS, source('["Device in use", "bsy"]'), "there is no reason 'bsy'"),
        (GOOD_OBJECTS, source('["Device in use", "busy", "queue-pear"]'), "there is no object 'queue-pear'"),
        (GOOD_OBJECTS, source('["Device in use"]'), "is not [text, reason]"),
        (GOOD_OBJECTS, f'{GOOD_REASONS}[reason.full]\nname = "full"\nsays = ["busy"]\n', "of the reason 'busy' too"),
        (GOOD_OBJECTS.replace("cuda*", "c*"), GOOD_REASONS, "needs at least 3 letters"),
        (GOOD_OBJECTS.replace("cuda*", "..."), GOOD_REASONS, "contains no word"),
        (GOOD_OBJECTS + "sais = []\n", GOOD_REASONS, "sais"),
    ],
)
def test_an_error_names_the_file_and_the_word(tmp_path: Path, objects: str, reasons: str, said: str) -> None:
    with pytest.raises(DefinitionError) as error:
        built(tmp_path, objects, reasons)
    assert said in str(error.value)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ('[["qp-modfy", "invalid", 3]]', "cells have no object 'qp-modfy'"),
        ('[["qp-modify", "invald", 3]]', "cells have no reason 'invald'"),
        ('[["qp-modify", "invalid", 4]]', "a number from 1 to 3"),
        ('[["qp-modify", "invalid", 3], ["qp-modify", "invalid", 1]]', "listed twice"),
    ],
)
def test_cells_of_a_rule_are_checked(cells: str, said: str) -> None:
    with pytest.raises(DefinitionError) as error:
        load_text(RULE.format(cells=cells), catalogue.names(), file="site/a-rule.toml")
    assert said in str(error.value)
    assert "site/a-rule.toml:7" in str(error.value)


def test_every_rule_lists_cells() -> None:
    assert [rule.name for rule in catalogue.rules() if not rule.floor and not rule.cells] == []
