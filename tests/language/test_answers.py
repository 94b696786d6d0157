"""What is asked for in a language comes in it, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncdiag import catalogue, triage
from ncdiag.cli import main
from ncdiag.diagnose import Options
from ncdiag.language import from_environment
from ncdiag.report.model import Report

TITLE = "其地址被公布给了其他主机"


@pytest.fixture
def log(project: Path) -> str:
    return str(project / "fixtures" / "cases" / "veth" / "nccl.log")


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    return capfd.readouterr().out


def test_chinese_is_asked_for(log: str, capfd: pytest.CaptureFixture[str]) -> None:
    for form in (["--verbose"], ["--brief"], ["--format", "markdown"], ["--format", "html"], []):
        assert TITLE in printed(capfd, "parse", log, "--lang", "zh", *form)


def test_the_locale_counts_for_people_alone(
    log: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    english = printed(capfd, "parse", log, "--format", "json")
    monkeypatch.delenv("NCDIAG_LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert TITLE in printed(capfd, "parse", log)
    assert TITLE in printed(capfd, "parse", log, "--format", "html")
    assert printed(capfd, "parse", log, "--format", "json") == english
    assert TITLE not in printed(capfd, "parse", log, "--lang", "en")


def test_json_in_chinese_has_the_same_names_and_codes(log: str, capfd: pytest.CaptureFixture[str]) -> None:
    english, chinese = (
        json.loads(printed(capfd, "parse", log, "--format", "json", "--lang", code)) for code in ("en", "zh")
    )
    assert TITLE in chinese["findings"][0]["title"]
    assert bones(chinese) == bones(english)


def bones(value: object) -> object:
    """Fields, and values that are codes: without sentences."""
    if isinstance(value, dict):
        return {name: bones(held) for name, held in value.items()}
    if isinstance(value, list):
        return [bones(held) for held in value]
    return None if isinstance(value, str) and (" " in value or not value.isascii()) else value


def test_rules_and_their_lists(capfd: pytest.CaptureFixture[str]) -> None:
    assert "已满" in printed(capfd, "rules", "show", "shm-too-small", "--lang", "zh")
    assert "已满" in printed(capfd, "rules", "list", "--lang", "zh")
    assert "已满" in printed(capfd, "explain", "NCD503", "--lang", "zh")


def test_the_interface_for_python(log: str) -> None:
    report = triage(log, Options(language="zh"))
    assert isinstance(report, Report)
    assert TITLE in report.findings[0].title
    assert TITLE not in triage(log).findings[0].title


def test_many_jobs_by_workers(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cases = project / "fixtures" / "cases"
    both = [str(cases / "veth" / "nccl.log"), str(cases / "shm-64m" / "paste.txt")]
    assert TITLE in printed(capfd, "parse", "--each", *both, "--lang", "zh")


def test_a_pack_has_its_own_translations(tmp_path: Path, project: Path) -> None:
    text = (project / "rules" / "shm" / "shm-too-small.toml").read_text(encoding="utf-8")
    text = text.replace("NCD503", "SITE503").replace("shm-too-small", "shm-of-site")
    text = text.replace('formerly = ["shm-leftover-files"]\n', "")
    text += '\n[text.zh]\ntitle = "{e.host} 上的 /dev/shm 没有空间"\n'
    folder = tmp_path / "shm"
    folder.mkdir()
    (folder / "shm-of-site.toml").write_text(text, encoding="utf-8")
    rules = catalogue.localised(catalogue.rules([tmp_path]), "zh", [tmp_path])
    assert next(rule.title for rule in rules if rule.name == "shm-of-site") == "{e.host} 上的 /dev/shm 没有空间"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
        ({"LC_ALL": "POSIX", "LANG": "zh_CN"}, "en"),
        ({"NCDIAG_LANG": "zh", "LC_ALL": "C"}, "zh"),
        ({"NCDIAG_LANG": "en", "LANG": "zh_CN"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_language_of_an_environment(environment: dict[str, str], code: str) -> None:
    assert from_environment(environment) == code


def test_two_runs_beside_each_other(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    both = [str(project / "fixtures" / "cases" / f"roce-gid-3-{age}" / "paste.txt") for age in ("old", "new")]
    found = printed(capfd, "diff", *both, "--lang", "zh")
    assert "现为 2.21.5" in found
    assert "differ" not in found
    page = printed(capfd, "diff", *both, "--lang", "zh", "--format", "html")
    assert '<html lang="zh-Hans">' in page
    for words in ("NCCL：两次运行对比", "重要内容不同", ">最重要</h2>", ">之前</th>", ">为何重要</th>", ">高</span>"):
        assert words in page, words


def test_a_wrong_translation_of_a_pack_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["rules", "new", "site-fault", "--in", str(tmp_path)])
    (path,) = tmp_path.glob("*/site-fault.toml")
    path.write_text(path.read_text(encoding="utf-8") + '\n[text.zh]\ntitle = "接口{x}"\n', encoding="utf-8")
    capfd.readouterr()
    found = printed(capfd, "rules", "test", str(tmp_path))
    assert "site-fault: text.zh: title: the holes are ['x']" in found
