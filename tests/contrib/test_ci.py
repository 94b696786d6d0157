"""CI files follow the schemas of their systems, and what they run is what ncdiag understands."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import command_lines
import jsonschema
import pytest
from ruamel.yaml import YAML

from ncdiag.report import formats

CONTRIB = Path(__file__).resolve().parents[2] / "contrib"
FILES = sorted(path for path in CONTRIB.rglob("*") if path.is_file())


def read(name: str) -> Any:  # noqa: ANN401
    return YAML(typ="safe").load(CONTRIB / "ci" / name)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("contrib/ci/github-workflow.yml", "github-workflows"),
        ("contrib/ci/gitlab-ci.yml", "gitlab-ci"),
        (".github/ISSUE_TEMPLATE/wrong-answer.yml", "github-issue-forms"),
        (".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
    ],
)
def test_the_system_takes_the_file(project: Path, name: str, schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(project / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_wrong_file_is_refused() -> None:
    """The schema is read, and says something."""
    text = files("check_jsonschema.builtin_schemas").joinpath("vendor/github-workflows.json").read_text()
    wrong = read("github-workflow.yml")
    wrong["jobs"]["lint"]["stepz"] = wrong["jobs"]["lint"].pop("steps")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, json.loads(text))


def test_what_is_written_is_what_is_handed_on() -> None:
    steps = read("github-workflow.yml")["jobs"]["logs"]["steps"]
    (upload,) = [step["with"]["sarif_file"] for step in steps if "upload-sarif" in step.get("uses", "")]
    runs = [words for step in steps for words in command_lines.written_in(step.get("run", ""))]
    assert [str(command_lines.options_of(words)["output"]) for words in runs if "sarif" in words] == [upload]
    job = read("gitlab-ci.yml")["nccl-logs"]
    (words,) = command_lines.written_in("\n".join(job["after_script"]))
    assert str(command_lines.options_of(words)["output"]) == job["artifacts"]["reports"]["junit"]


def test_the_hook_is_one_that_ncdiag_defines(project: Path) -> None:
    (repository,) = read("pre-commit-config.yaml")["repos"]
    defined = {hook["id"] for hook in YAML(typ="safe").load(project / ".pre-commit-hooks.yaml")}
    assert {hook["id"] for hook in repository["hooks"]} <= defined


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CONTRIB).as_posix())
def test_every_command_line_is_understood(path: Path) -> None:
    for words in command_lines.written_in(path.read_text(encoding="utf-8")):
        options = command_lines.options_of(words)
        assert options.get("format") in {None, *formats()}, words


def test_command_lines_are_found() -> None:
    """Of each folder, in scripts and in what surrounds them; the parser refuses a wrong one."""
    found = [path.parent.name for path in FILES for _ in command_lines.written_in(path.read_text(encoding="utf-8"))]
    assert {"ci", "kubernetes", "nagios", "prometheus"} <= set(found)
    with pytest.raises(Exception, match="nonsense"):
        command_lines.options_of(["check", "--nonsense"])


def test_every_file_is_on_a_page() -> None:
    """A reader finds what there is: each folder has a page that names its files."""
    for folder in {path.parent for path in FILES} - {CONTRIB}:
        page = (folder / "README.md").read_text(encoding="utf-8")
        for path in folder.iterdir():
            assert path.name == "README.md" or path.name in page or path.suffix in page, path
    assert all(
        f"({path.name}/README.md)" in (CONTRIB / "README.md").read_text() for path in CONTRIB.iterdir() if path.is_dir()
    )


def test_the_form_for_issues_names_commands_that_exist(project: Path) -> None:
    text = (project / ".github" / "ISSUE_TEMPLATE" / "wrong-answer.yml").read_text()
    found = [words for words in command_lines.written_in(text) if words[0] in {"redact", "collect"}]
    assert len(found) == 2
    for words in found:
        command_lines.options_of(words)
