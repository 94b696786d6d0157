"""What was cleaned is diagnosed as before: the facts and the findings stay."""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any

import msgspec
import pytest
from cleaning import FIXTURES, KEY, PASTE, gist, shape
from shared_texts import THREADS, answer, threads
from tenth import tenth

from ncdiag import triage
from ncdiag.apps.redact import cleaned, report_cleaned
from ncdiag.diagnose import diagnose
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource, open_sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES = sorted(path for path in (FIXTURES / "cases").iterdir() if path.is_dir())
HEALTHY = sorted((FIXTURES / "healthy").iterdir())


def _name(path: pathlib.Path) -> str:
    return path.name


SWEPT_CASES, SWEPT_HEALTHY = tenth(CASES, _name), tenth(HEALTHY, _name)


@pytest.mark.sweep
@pytest.mark.parametrize("folder", SWEPT_CASES, ids=_name)
def test_the_diagnosis_stays(folder: pathlib.Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text())
    names = case.get("input") or sorted(p.name for p in folder.iterdir() if p.name != "case.toml")
    files = [str(folder / name) for name in names]
    made, _ = cleaned([source for source in open_sources(files) if isinstance(source, TextSource)], KEY)
    assert gist(diagnose(made)) == gist(triage(files))


def facts(source: Any) -> Any:  # noqa: ANN401
    return shape(json.loads(msgspec.json.encode(job_of([read_source(source)]))))


def same_facts(text: bytes, name: str = "paste.txt") -> bool:
    (made,), _ = cleaned([TextSource.of_bytes(name, text)], KEY)
    return bool(facts(made) == facts(TextSource.of_bytes(name, text)))


@pytest.mark.sweep
def test_the_facts_of_every_specimen_stay() -> None:
    texts = tenth(sorted((FIXTURES / "sections").glob("*/*.txt")), lambda path: f"{path.parent.name}/{path.stem}")
    assert texts
    assert [f"{path.parent.name}/{path.name}" for path in texts if not same_facts(path.read_bytes())] == []


@pytest.mark.sweep
def test_the_facts_of_every_example_stay() -> None:
    wrong = []
    files = sorted((FIXTURES.parent / "rules").rglob("*.toml"))
    for path in tenth(files, lambda path: path.name.partition(".")[0], one_in=2):
        for example in tomllib.loads(path.read_text(encoding="utf-8")).get("example", ()):
            texts = [text for text in example.values() if isinstance(text, str) and "\n" in text]
            if not same_facts("\n".join(texts).encode()):
                wrong.append(f"{path.name}: {example['name']}")
    assert wrong == []


@pytest.mark.sweep
@pytest.mark.parametrize("folder", SWEPT_HEALTHY, ids=_name)
def test_what_is_healthy_stays_so(folder: pathlib.Path) -> None:
    files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    made, _ = cleaned([source for source in open_sources(files) if isinstance(source, TextSource)], KEY)
    assert gist(diagnose(made)) == gist(triage(files))


def unordered(report: Report) -> tuple[str, list[str], list[str]]:
    """The verdict, the findings and what is asked for, in any order."""
    verdict, _, found, asked, _ = gist(report)
    return verdict, sorted(map(repr, found)), sorted(map(repr, asked))


@THREADS
def test_the_diagnosis_of_real_cases_stays(shared: pathlib.Path) -> None:
    texts = threads(shared)
    assert texts
    changed, moved = [], []
    for path in texts:
        made, _ = cleaned([TextSource.of_bytes(path.name, path.read_bytes())], KEY)
        report, plain = diagnose(made), answer(path).report
        if unordered(report) != unordered(plain):
            changed.append(path.name)
        elif gist(report)[:4] != gist(plain)[:4]:
            moved.append(path.name)
    assert changed == []
    assert len(moved) <= len(texts) // 200, "only answers with nearly equal sums may change places"


def test_a_report_is_cleaned_with_the_same_structure() -> None:
    launch = "NCCL_IB_HCA=mlx5 mpirun -np 2 -H rack1n5:1,rack1n6:1 /home/bob/train --token s3cr3tValue9"
    text = f"{PASTE}{launch}\n"
    whole = diagnose([TextSource.of_bytes("/home/alice/paste", text.encode())])
    made = report_cleaned(whole, KEY)
    assert whole.findings
    assert gist(made) == gist(whole)
    shown = renderer("json")(made, width=80, colour=False)
    assert "rack1n5" in renderer("json")(whole, width=80, colour=False)
    assert not re.search("gpu0[78]|rack1n|alice|bob|s3cr3t|10[.]20[.]", shown)
    assert re.search(r"mpirun -np 2 -H \w{6}5:1,\w{6}6:1 ", shown)
