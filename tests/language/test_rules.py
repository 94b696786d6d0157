"""The translations of the rules: true to the English in holes, names and numbers; what is stale or wrong is English."""

from __future__ import annotations

from pathlib import Path

import book
import msgspec
import pytest
from tenth import tenth

from ncdiag import catalogue
from ncdiag.base.errors import DefinitionError
from ncdiag.engine.areas import Wording
from ncdiag.engine.schema import Rule
from ncdiag.engine.translation import Translation, of_folder, own, pairs, stamp, translated, unwrapped
from ncdiag.engine.translation_quality import faults, missing, problems, stale

FOLDER = catalogue.translations_dir("zh")


@pytest.fixture(scope="module")
def rules() -> dict[str, Rule]:
    return {rule.name: rule for rule in book.rules()}


def test_the_files_are_read_whole() -> None:
    found, wrong = of_folder(FOLDER)
    assert wrong == []
    assert found == catalogue.translations("zh", catalogue.rules_dir())


def test_each_rule_is_in_the_file_of_its_area(rules: dict[str, Rule], tmp_path: Path) -> None:
    for path in FOLDER.glob("*.toml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
        names = of_folder(tmp_path)[0]
        (tmp_path / path.name).unlink()
        assert {rules[name].area for name in names if name in rules} == {path.stem}


@pytest.mark.sweep
def test_translations_are_true_to_the_english(rules: dict[str, Rule]) -> None:
    said = catalogue.translations("zh", catalogue.rules_dir())
    wrong = {n: found for n in tenth(said) if n in rules and (found := list(problems(rules[n], said[n])))}
    assert wrong == {}


def test_nearly_all_texts_are_translated(rules: dict[str, Rule]) -> None:
    """What is stale may wait for who knows the language; a file that is not read may not."""
    said = catalogue.translations("zh", catalogue.rules_dir())
    total = sum(1 for rule in rules.values() for _ in pairs(rule, {}))
    lacking = sum(1 for rule in rules.values() for _ in missing(rule, said.get(rule.name, {})))
    assert lacking < total / 10


def test_a_changed_english_text_alone_comes_in_english(rules: dict[str, Rule]) -> None:
    rule = rules["shm-too-small"]
    said = catalogue.translations("zh", catalogue.rules_dir())[rule.name]
    key = f"why.{stamp(rule.why)}"
    changed = msgspec.structs.replace(rule, why=f"{rule.why} And more.")
    made = translated(changed, said)
    assert made.why == changed.why
    assert made.title == translated(rule, said).title != rule.title
    assert stale(rule, said) == []
    assert stale(changed, said) == [key]
    assert [text for _, text in missing(changed, said)] == [" ".join(changed.why.split())]
    assert list(problems(changed, said)) == [], "who changes the English is not asked for more"


def test_line_breaks_change_no_stamp() -> None:
    assert stamp("one\ntwo  three\n") == stamp("one two three") != stamp("one two four")


@pytest.mark.parametrize(
    ("english", "said", "fault"),
    [
        ("{h.name} is full", "{h.host} 已满", "the holes are"),
        ("set NCCL_IB_HCA to mlx5_0", "设置 NCCL_IB_HCA", "these are missing: mlx5_0"),
        ("before 2.28.3 it is 64 MB", "之前是 64 MB", "these are missing: 2.28.3"),
        ("the files in /dev/shm", "共享内存中的文件", "these are missing: /dev/shm"),
        ("the log of the rank", "the log of the rank", "it is not translated"),
        ("it fails, and stops", "失败,停止", "half-width punctuation"),
        ("the RDMA card", "RDMA网卡", "a blank is missing"),
        ("the card fails", "网卡 失败", "a blank too many"),
        ("The card fails.", "网卡失败", "it ends in"),
        ("Does the card fail?", "网卡失败。", "it ends in"),
    ],
)
def test_faults_of_a_translation(english: str, said: str, fault: str) -> None:
    assert any(found.startswith(fault) for found in faults(english, said)), list(faults(english, said))


def test_a_good_translation_has_no_fault() -> None:
    english = "{t.who} waited{t.more}: NICs of two GPUs on Linux (PIX), and ulimit -l."
    assert list(faults(english, "{t.who} 等待{t.more}：两个 GPU 的网卡（PIX），以及 ulimit -l。")) == []


def test_texts_with_other_holes_stay_english(rules: dict[str, Rule]) -> None:
    rule = rules["shm-too-small"]
    said: Translation = {
        "title": {stamp(rule.title): "{e.nothing} 已满"}, "why": {stamp(rule.why): "空间不足。"},
        "fixes": {stamp(rule.fixes[-1].text): "禁用。"},
    }  # fmt: skip
    made = translated(rule, said)
    assert (made.title, made.why) == (rule.title, "空间不足。")
    assert [fix.text for fix in made.fixes] == [*(fix.text for fix in rule.fixes[:-1]), "禁用。"]


def test_breaks_between_wide_characters_are_no_blanks() -> None:
    assert unwrapped("数据\n  加载，\nNCCL\n 之后\nof it\n") == "数据加载，NCCL 之后 of it"


BROKEN = [
    ('[one]\ntitel.00000001 = "x"\n', "a.toml:2: one: a rule has no texts called 'titel'", "did you mean 'title'?"),
    ('[one]\nxyz.00000001 = "x"\n', "a.toml:2: one: a rule has no texts called 'xyz'", "false_positives, fixes"),
    ('[one]\ntitle = "x"\n', "a.toml:2: one: the text of 'title' has no stamp", 'title.7fb3ff37 = "..."'),
    ("[one]\ntitle.00000001 = 3\n", "a.toml:1: one: Expected `str`", "title.7fb3ff37"),
]


@pytest.mark.parametrize(("text", "told", "hint"), BROKEN)
def test_a_wrong_translation_costs_its_rule_alone(text: str, told: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'{text}\n[two]\ntitle.00000001 = "二"\n', encoding="utf-8")
    (tmp_path / "b.toml").write_text('[three]\ntitle.00000001 = "三"\n', encoding="utf-8")
    found, (wrong,) = of_folder(tmp_path)
    assert found == {"two": {"title": {"00000001": "二"}}, "three": {"title": {"00000001": "三"}}}
    assert told in str(wrong)
    assert hint in wrong.hint


@pytest.mark.parametrize(
    ("content", "told"), [(b"[one\n", "a.toml:1: this is not valid TOML"), (b"\xff", "cannot be read")]
)
def test_a_file_that_is_not_toml_costs_its_area_alone(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    (tmp_path / "b.toml").write_text('[three]\ntitle.00000001 = "三"\n', encoding="utf-8")
    found, (wrong,) = of_folder(tmp_path)
    assert list(found) == ["three"]
    assert told in str(wrong)


def test_a_wrong_key_in_a_private_rule_is_refused() -> None:
    text = '[text.zh]\ntitel = "x"\n'
    with pytest.raises(DefinitionError, match=r"x\.toml:2: unknown key 'titel'(?s:.)*did you mean 'title'"):
        own({"zh": {"titel": "x"}}, text, "x.toml")


def test_phrases_of_other_languages_are_of_signs_that_exist(rules: dict[str, Rule]) -> None:
    wording: Wording = catalogue._wording()
    signs = {(rule.name, sign.name) for rule in rules.values() for sign in rule.signs}
    named = {(rule, name) for rule, held in wording.sign.items() for name in held}
    assert len(named) > 50
    assert named - signs == set()
