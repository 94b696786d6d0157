"""The translations of the rules: complete where they exist, true to the English in holes, names and numbers."""

from __future__ import annotations

import msgspec
import pytest

from ncdiag import catalogue
from ncdiag.base.errors import DefinitionError
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.schema import Rule
from ncdiag.engine.translation import Translation, pairs, read, stamp, translated, unwrapped
from ncdiag.engine.translation_quality import faults, missing, problems

TEXTS = 5568
"""Texts of rules in Chinese: the count may only go up."""


@pytest.fixture(scope="module")
def rules() -> dict[str, Rule]:
    names = catalogue.names()
    return {path.stem: load_file(path, names) for path in rule_files(catalogue.rules_dir())}


def test_translations_are_true_to_the_english(rules: dict[str, Rule]) -> None:
    said = catalogue.translations("zh", catalogue.rules_dir())
    wrong = {name: found for name, held in said.items() if (found := list(problems(rules[name], held)))}
    assert wrong == {}
    assert [name for name, held in said.items() if not held.of] == []  # tools/translated.py writes it


def test_no_translation_is_lost(rules: dict[str, Rule]) -> None:
    """What is missing, per rule, is what ``tools/translated.py zh`` counts."""
    said = catalogue.translations("zh", catalogue.rules_dir())
    total = sum(1 for rule in rules.values() for _ in pairs(rule, Translation()))
    lacking = {name: len(missing(rule, said.get(name))) for name, rule in rules.items()}
    assert total - sum(lacking.values()) >= TEXTS
    assert {name: count for name, count in lacking.items() if count and name in said} == {}


def test_a_change_of_the_english_is_noticed(rules: dict[str, Rule]) -> None:
    rule = rules["shm-too-small"]
    said = catalogue.translations("zh", catalogue.rules_dir())[rule.name]
    assert said.of == stamp(rule)
    changed = msgspec.structs.replace(rule, why=f"{rule.why} And more.")
    assert any(problem.startswith("of: ") for problem in problems(changed, said))


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


def test_lists_may_not_be_longer_than_the_english(rules: dict[str, Rule]) -> None:
    rule = rules["shm-too-small"]
    assert list(problems(rule, Translation(titles=("标题",)))) == ["titles: 1 texts for 0 English ones"]


def test_texts_with_other_holes_stay_english(rules: dict[str, Rule]) -> None:
    rule = rules["shm-too-small"]
    made = translated(rule, Translation(title="{e.nothing} 已满", why="空间不足。", fixes=("", "禁用。")))
    assert (made.title, made.why) == (rule.title, "空间不足。")
    assert [fix.text for fix in made.fixes] == [rule.fixes[0].text, "禁用。"]


def test_breaks_between_wide_characters_are_no_blanks() -> None:
    assert unwrapped("数据\n  加载，\nNCCL\n 之后\nof it\n") == "数据加载，NCCL 之后 of it"


def test_a_wrong_key_is_refused() -> None:
    with pytest.raises(DefinitionError, match="titel"):
        read({"zh": {"titel": "x"}}, "rules/site/x.toml")
