"""Each entry that can lead does so on an input with its release and condition, and not without one of them."""

from __future__ import annotations

import pytest
from defects.inputs import healthy, outside, text_of
from judged import findings
from tenth import tenth

from ncdiag.diagnose import diagnose, view_of
from ncdiag.knowledge.version.defects import leading_defects
from ncdiag.nccl.defects.table import tables
from ncdiag.text.reading.many import read_all
from ncdiag.text.sources.files import TextSource

LEADING = [defect for defect in tables().defects if defect.leads]
LEAST = 80


def led(text: str) -> set[str]:
    """The names of the defects that lead on some host of the input."""
    view = view_of(read_all([TextSource.of_bytes("log", text.encode())]).job())
    return {name for host in view.job.hosts for name in leading_defects(host, view)}


def test_the_table_has_enough_entries_with_both_ends_and_a_condition() -> None:
    counted = [defect for defect in LEADING if defect.when.parts and defect.source]
    assert len(counted) >= LEAST


@pytest.mark.sweep
def test_each_leads_with_its_release_and_its_condition() -> None:
    chosen = tenth(LEADING, lambda defect: defect.name)
    assert [defect.name for defect in chosen if defect.name not in led(text_of(defect, defect.since))] == []


@pytest.mark.sweep
def test_none_leads_with_a_release_outside_of_its_range() -> None:
    chosen = tenth(LEADING, lambda defect: defect.name)
    assert [defect.name for defect in chosen if defect.name in led(text_of(defect, outside(defect)))] == []


@pytest.mark.sweep
def test_none_leads_without_its_condition() -> None:
    chosen = tenth(LEADING, lambda defect: defect.name)
    assert [d.name for d in chosen if d.name in led(text_of(d, d.since, meets=False))] == []


@pytest.mark.sweep
def test_none_leads_where_something_else_goes_wrong() -> None:
    """A signature that is a failure by itself is left out: its line is a complaint."""
    chosen = [d for d in tenth(LEADING, lambda defect: defect.name) if not d.shows.events and d.product != "driver"]
    other = {d.name: "wrong-results" if d.complaint in {"slow", "memory-grows"} else "slow" for d in chosen}
    assert [d.name for d in chosen if d.name in led(text_of(d, d.since, complaint=other[d.name]))] == []


@pytest.mark.sweep
def test_none_leads_on_a_log_of_a_job_that_ended_well() -> None:
    chosen = tenth(LEADING, lambda defect: defect.name)
    assert [d.name for d in chosen if d.name in led(healthy(d))] == []


def test_an_entry_without_its_first_release_never_leads() -> None:
    unknown = [defect for defect in tables().defects if defect.low is None]
    assert unknown
    assert not any(defect.leads for defect in unknown)


def test_the_rule_reports_the_entry_with_its_source() -> None:
    known = {defect.name: defect for defect in LEADING}
    for name in ("plugin-path", "subnet-match", "ofi-tuner-with-algorithm"):
        found = findings(text_of(known[name], known[name].since))
        (said,) = [one for one in found if one.rule.name in {"version-known-defect", "version-plugin-defect"}]
        assert known[name].what in said.title
        assert known[name].source in said.why


@pytest.mark.parametrize("name", ["chunk-size", "nvshmem-queue-pairs"])
def test_where_no_release_has_the_fix_none_is_advised(name: str) -> None:
    (defect,) = [defect for defect in LEADING if defect.name == name]
    report = diagnose([TextSource.of_bytes("log", text_of(defect, defect.since).encode())])
    (said,) = [one for one in report.findings if one.name in {"version-known-defect", "version-plugin-defect"}]
    assert said.fixes
    assert not any("has the fix" in fix.text for fix in said.fixes)
