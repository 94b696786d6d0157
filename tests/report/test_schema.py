"""The published schemas: valid themselves, kept by every answer on the fixtures, and refusing what is wrong."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from kept_reports import NAMES, load
from tenth import at_least, tenth

import ncdiag
from ncdiag.diagnose import DEFAULTS, Options, diagnose, difference
from ncdiag.machine.host import look
from ncdiag.machine.inputs import inputs
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.report.schema import DIALECT, NAMED, schema
from ncdiag.text.reading.many import read_all

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Json = Any
TOGETHER = 12
"""Kinds of sections that are judged as one job: each by itself takes as long again."""


@pytest.fixture(scope="module")
def report() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema("report"))


def faults(checked: jsonschema.Draft202012Validator, answer: Json) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in checked.iter_errors(answer)]


def printed(found: Report) -> Json:
    return json.loads(renderer("json")(found))


def batches(project: Path) -> Iterator[Sequence[Path]]:
    """Each case and each capture of a healthy machine by itself, then a specimen of every kind of section."""
    fixtures = project / "fixtures"
    for path in sorted([*(fixtures / "cases").iterdir(), *(fixtures / "healthy").iterdir(), fixtures / "bug_report"]):
        yield [path]
    kinds = [sorted(path for path in kind.iterdir() if path.suffix != ".json" or kind.name.endswith("json"))
             for kind in sorted((fixtures / "sections").iterdir())]  # fmt: skip
    first = [paths[0] for paths in kinds if paths]
    for begin in range(0, len(first), TOGETHER):
        yield first[begin : begin + TOGETHER]


@pytest.mark.parametrize("name", NAMED)
def test_a_schema_is_valid_itself(name: str) -> None:
    made = schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["$schema"] == DIALECT
    assert made["type"] == "object"


def test_the_names_of_the_schemas_differ() -> None:
    assert len({schema(name)["$id"] for name in NAMED}) == len(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_every_type_is_described_in_plain_text(name: str) -> None:
    made = schema(name)
    parts = {"": made, **made["$defs"]}
    texts = {key: part.get("description", "") for key, part in parts.items() if "properties" in part}
    assert len(texts) > 1
    assert {key: text for key, text in texts.items() if not text or "``" in text or "\n  " in text} == {}


@pytest.mark.sweep
def test_the_reports_on_all_fixtures_keep_to_it(project: Path, report: jsonschema.Draft202012Validator) -> None:
    taken = tenth(batches(project), lambda batch: f"{batch[0].parent.name}/{batch[0].name}")
    found = {str(batch[0]): faults(report, printed(ncdiag.triage(batch))) for batch in taken}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) >= at_least(30)


def test_kept_reports_and_looks_at_machines_keep_to_it(project: Path, report: jsonschema.Draft202012Validator) -> None:
    assert {name: wrong for name in NAMES if (wrong := faults(report, printed(load(name))))} == {}
    roots = [look(path) for path in sorted((project / "fixtures" / "roots").iterdir())]
    seen = printed(diagnose(roots, Options(table=True)))
    assert seen["looks"]
    assert seen["comparison"]
    assert faults(report, seen) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda answer: answer.pop("schema_version"),
        lambda answer: answer.pop("summary"),
        lambda answer: answer.update(schema_version=2),
        lambda answer: answer["summary"].update(verdict="fine"),
        lambda answer: answer["findings"][0].update(severity="fatal"),
        lambda answer: answer["findings"][0]["evidence"][0].update(line="12"),
        lambda answer: answer["findings"][0]["fixes"][0].update(env=["NCCL_DEBUG=INFO"]),
    ],
)
def test_a_wrong_report_is_refused(report: jsonschema.Draft202012Validator, spoil: Callable[[Json], object]) -> None:
    answer = printed(load("veth"))
    spoilt = copy.deepcopy(answer)
    spoil(spoilt)
    assert faults(report, answer) == []
    assert len(faults(report, spoilt)) == 1


def test_a_report_may_have_fields_that_are_not_known_yet(report: jsonschema.Draft202012Validator) -> None:
    assert faults(report, {**printed(load("veth")), "later": 1}) == []


def test_facts_and_differences_keep_to_theirs(project: Path) -> None:
    pair = [project / "fixtures" / "cases" / name for name in ("roce-gid-3-old", "roce-gid-3-new")]
    cases = [read_all(inputs([str(path)])) for path in pair]
    facts = jsonschema.Draft202012Validator(schema("facts"))
    for case in cases:
        answer = json.loads(json.dumps(msgspec.to_builtins(case.job())))
        assert faults(facts, answer) == []
        assert len(faults(facts, {**answer, "ranks": 16})) == 1
    between = json.loads(json.dumps(msgspec.to_builtins(difference(("a", cases[0]), ("b", cases[1]), DEFAULTS))))
    diff = jsonschema.Draft202012Validator(schema("diff"))
    assert between["changes"]
    assert faults(diff, between) == []
    assert len(faults(diff, {**between, "matters": "yes"})) == 1


def test_the_command_prints_them(ncdiag: Run) -> None:
    assert json.loads(ncdiag("schema").stdout) == schema("report")
    assert json.loads(ncdiag("schema", "diff").stdout) == schema("diff")
    done = ncdiag("schema", "nonsense")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "ncdiag: there is no schema 'nonsense'; the schemas are report, diff, facts\n"
