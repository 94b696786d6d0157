"""The public functions: paths in, a report out."""

from __future__ import annotations

import pathlib

import pytest

import ncdiag
from ncdiag.base.errors import InputError, UsageError

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
LOG = FIXTURES / "cases" / "veth" / "nccl.log"


@pytest.mark.parametrize("paths", [str(LOG), LOG, [LOG], [str(LOG)]])
@pytest.mark.parametrize("judge", [ncdiag.triage, ncdiag.parse])
def test_a_path_in_any_form_is_judged(judge: object, paths: object) -> None:
    assert callable(judge)
    report = judge(paths)
    assert isinstance(report, ncdiag.Report)
    assert report.summary.root_cause == "socket-virtual-ifname"


def test_options_narrow_the_judgement() -> None:
    report = ncdiag.triage(LOG, ncdiag.Options(ignore=("socket-virtual-ifname",)))
    assert "socket-virtual-ifname" not in [finding.name for finding in report.findings]
    with pytest.raises(UsageError, match="there is no rule 'NCD000000'"):
        ncdiag.triage(LOG, ncdiag.Options(select=("NCD000000",)))


def test_what_cannot_be_read_is_a_note(tmp_path: pathlib.Path) -> None:
    report = ncdiag.triage([LOG, tmp_path / "none.log"])
    assert [bool(found.notes) for found in report.inputs] == [False, True]


def test_a_recorded_tree_is_checked() -> None:
    root = next(path for path in sorted((FIXTURES / "roots").iterdir()) if path.is_dir())
    report = ncdiag.check(root)
    assert [found.source for found in report.inputs if found.source == str(root)] == [str(root)]


def test_a_root_that_is_none_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(InputError, match="none"):
        ncdiag.check(tmp_path / "none")


def test_public_names_exist() -> None:
    assert all(getattr(ncdiag, name) is not None for name in ncdiag.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ncdiag.nothing  # noqa: B018
