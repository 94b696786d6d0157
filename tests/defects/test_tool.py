"""tools/defects.py: what it lists of a clone with a release that the tables do not know."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ncdiag.nccl.defects.entries import Condition, Defect, Tables
from ncdiag.nccl.defects.table import tables


@pytest.fixture(scope="module")
def tool(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("defects_tool", project / "tools" / "defects.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def git(clone: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(clone), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Two releases: one whose message lists fixes, one whose message names a page."""
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    for release, text, message in (
        ("2.8.3", "oldCode", "2.8.3-1\n\n * Fix a hang\n   of rings.\n * Add a feature.\n"),
        ("2.99.1", "newCode", "net: fix a leak of connections"),
    ):
        (tmp_path / "src" / "net.cc").write_text(text, encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", message)
        if release == "2.99.1":
            git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Notes: https://example.org")
        git(tmp_path, "tag", f"v{release}-1")
    return tmp_path


def test_fixes_of_a_message_and_of_commits_that_nobody_read_are_listed(tool: ModuleType, clone: Path) -> None:
    tags = tool.releases(str(clone))
    assert tags == {"2.8.3": "v2.8.3-1", "2.99.1": "v2.99.1-1"}
    found = list(tool.unlisted(str(clone), tags, {}))
    assert found == [("2.8.3", "Fix a hang of rings."), ("2.99.1", "net: fix a leak of connections")]
    read = {"2.8.3": {tool.stamp("Fix a hang of rings."): "none: invented"}}
    assert list(tool.unlisted(str(clone), tags, read)) == found[1:]


def test_a_stamp_that_names_no_entry_is_listed(tool: ModuleType) -> None:
    assert list(tool.lost({"2.8.3": {"0": "none: of no use", "1": "no-such-entry", "2": "links-down"}})) == [
        "2.8.3: 1: no entry is called 'no-such-entry'"
    ]


def test_a_text_that_comes_later_than_the_defect_is_listed(
    tool: ModuleType, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(since: str, code: str) -> Defect:
        return Defect(
            name=f"{code}-{since}", since=since, fixed="open", what="x", when=Condition(), code=code, source="s"
        )

    held = (entry("2.8.3", "newCode"), entry("2.99.1", "newCode"), entry("2.8.3", "oldCode"), entry("2.9.0", "never"))
    monkeypatch.setattr(tool, "tables", lambda: Tables(defects=held))
    told = list(tool.wrong_origins(str(clone), tool.releases(str(clone))))
    assert told == [
        "newCode-2.8.3: since 2.8.3, but 'newCode' is first in 2.99.1",
        "never-2.9.0: since 2.9.0, but 'never' is first in no release",
    ]


def test_new_releases_end_it_with_1_and_another_folder_with_a_sentence(
    tool: ModuleType, clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main([str(clone)]) == 1
    assert "2.99.1: not in the table of releases" in capsys.readouterr().out
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert tool.main([str(empty)]) == 2
    assert "is not a clone of NVIDIA/nccl with its tags" in capsys.readouterr().out


def test_each_fix_is_in_a_published_release() -> None:
    ours = [defect for defect in tables().defects if defect.product == "nccl"]
    assert [d.name for d in ours if d.fixed not in {*tables().releases, "open"}] == []
