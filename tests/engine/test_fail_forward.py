"""A section, a rule, a value or a proof that fails costs itself alone: the report says so, and all else stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ncdiag import catalogue
from ncdiag.base import errors
from ncdiag.base.spans import Section
from ncdiag.commands._judge import exit_code
from ncdiag.commands._options import FailOn
from ncdiag.diagnose import diagnose
from ncdiag.engine import fields
from ncdiag.facts.observe import FieldError, Parsed, not_declared, observe
from ncdiag.facts.view import Derived
from ncdiag.fixes import prove, values
from ncdiag.knowledge import registry
from ncdiag.parsers import ulimit
from ncdiag.report import renderer
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

PROJECT = Path(__file__).resolve().parents[2]
PASTE = (PROJECT / "fixtures" / "cases" / "veth" / "nccl.log").read_text()
SECRET = "hunter2-not-to-be-told"  # noqa: S105  (a word that must not come out)


class FaultError(Exception):
    """An error that nobody expects."""


def fail(*_: Any, **__: Any) -> Any:  # noqa: ANN401
    raise FaultError(SECRET)


@pytest.fixture(autouse=True)
def as_users_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue.rules()  # compiled whole: not first from a registry with one value
    monkeypatch.setattr(errors, "strict", False)
    monkeypatch.delenv("NCDIAG_DEBUG", raising=False)


def judged(text: str = PASTE) -> Report:
    return diagnose([TextSource.of_bytes("paste", text.encode())])


def test_a_sound_run_has_no_faults() -> None:
    assert judged().faults == ()


def test_a_derived_field_that_raises_costs_its_rules(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    sound = judged()
    assert sound.answers[0] == "socket-virtual-ifname"
    broken = Derived("is_gpu_refused", fail)
    monkeypatch.setattr(fields, "registry", lambda: {**registry(), ("Event", "is_gpu_refused"): broken})
    fields.derived_field.cache_clear()
    request.addfinalizer(fields.derived_field.cache_clear)
    report = judged(PASTE + "n1:1:1 [0] NCCL WARN Cuda failure 'out of memory'\n")
    assert report.answers[0] == "socket-virtual-ifname" or "socket-virtual-ifname" in report.answers
    assert any("NCD658" in fault and "FaultError" in fault for fault in report.faults)
    assert SECRET not in str(report.faults)


def test_a_parser_that_raises_costs_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ulimit, "parse", fail)
    report = judged("$ ulimit -a\nmax locked memory       (kbytes, -l) 64\n" + PASTE)
    assert "socket-virtual-ifname" in report.answers
    assert [fault for fault in report.faults if "ulimit" in fault and "could not be read" in fault]
    assert report.inputs[0].unread_lines


def test_a_field_that_no_type_has_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(section: Section) -> Parsed:
        told = observe(section, 0, "Limit", ("memlock",), soft=65536, sfot=SECRET)
        return Parsed(observations=(told, observe(section, 0, "Limits")))

    monkeypatch.setattr(ulimit, "parse", parse)
    report = judged("$ ulimit -a\nmax locked memory       (kbytes, -l) 64\n" + PASTE)
    assert "socket-virtual-ifname" in report.answers
    assert [fault for fault in report.faults if "Limit has no field 'sfot': did you mean 'soft'?" in fault]
    assert [fault for fault in report.faults if "no type of facts is called 'Limits': did you mean 'Limit'?" in fault]
    assert SECRET not in str(report)
    assert "line 2 of paste" in report.faults[0]


def test_a_field_that_no_type_has_is_seen_by_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "strict", True)
    where = Section(kind="ibstat", source="x", first_line=1, lines=("x",))
    assert not_declared([observe(where, 0, "Port", ("mlx5_0", 1), physical_state="LinkUp")]) == ()
    with pytest.raises(FieldError, match="Port has no field 'physical_stat': did you mean 'physical_state'"):
        not_declared([observe(where, 0, "Port", ("mlx5_0", 1), physical_stat="LinkUp")])


def test_a_value_that_raises_costs_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "registry", lambda: {"shared_interface": fail})
    report = judged()
    assert report.answers[0] == "socket-virtual-ifname"
    assert any("NCD" in fault for fault in report.faults)


def test_a_proof_that_raises_costs_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "prove", fail)
    report = judged()
    assert report.answers[0] == "socket-virtual-ifname"
    assert any("a fix of" in fault for fault in report.faults)


def test_the_exit_code_tells() -> None:
    report = judged()
    assert exit_code(report, FailOn.error) == errors.FOUND
    faulty = replace(report, findings=(), faults=("rule NCD101 could not be evaluated",))
    assert exit_code(faulty, FailOn.error) == errors.INTERNAL


def test_every_format_says_so() -> None:
    fault = "rule NCD101 could not be evaluated (FaultError at facts/view.py:1)"
    report = replace(judged(), faults=(fault,))
    for name in ("text", "markdown", "json"):
        told = renderer(name)(report, width=200, colour=False).replace("\\", "")
        assert "NCD101 could not be evaluated" in told, name


def test_debug_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCDIAG_DEBUG", "1")
    monkeypatch.setattr(prove, "prove", fail)
    with pytest.raises(FaultError):
        judged()
