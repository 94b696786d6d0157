"""The file of examples beside a rule: what it adds, and what is refused with file, line and the allowed words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.engine.examples import orphans
from ncdiag.engine.load import load_file, load_folder, rule_files
from ncdiag.engine.scope import Names

RULE = """
code = "OWN001"
name = "old-modules"
area = "own"
severity = "info"
role = "cause"
title = "t"
why = "w"
each = { h = "job.hosts" }
when = ['any(m.name == "nv_peer_mem" for m in h.modules)']
[suspect]
text = "the modules are old"
[[sign]]
text = "a person says so"
says = ["old modules"]
[[sign]]
name = "by-name"
text = "an old module is named"
says = ["nv_peer_mem"]
"""
EXAMPLES = """
[[example]]
name = "one"
outcome = "fired"
lsmod = "nv_peer_mem 1 0"

[sign."a person says so"]
example = "These are old modules."

[sign.by-name]
example = "nv_peer_mem is loaded"
unlike = "no module"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    file = tmp_path / "own" / "old-modules.toml"
    file.write_text(RULE)
    return file


def beside(path: Path, text: str = EXAMPLES) -> Path:
    file = path.with_name("old-modules.examples.toml")
    file.write_text(text)
    return file


def test_the_examples_of_the_rule_and_of_its_signs(path: Path) -> None:
    beside(path)
    rule = load_file(path)
    assert [(example.name, example.sections) for example in rule.examples] == [("one", {"lsmod": ("nv_peer_mem 1 0",)})]
    assert [(sign.example, sign.unlike) for sign in rule.signs] == [
        ("These are old modules.", ""), ("nv_peer_mem is loaded", "no module"),
    ]  # fmt: skip


def test_it_is_not_a_rule_and_may_be_left_unread(path: Path) -> None:
    beside(path, "[[example")
    assert rule_files(path.parent.parent) == [path]
    (rule,) = load_folder(path.parent.parent, with_examples=False)
    assert rule.examples == ()
    with pytest.raises(DefinitionError, match=r"old-modules\.examples\.toml:1: this is not valid TOML"):
        load_folder(path.parent.parent)


def test_examples_may_be_in_both_files_but_each_once(path: Path) -> None:
    inside = '[[example]]\nname = "two"\noutcome = "clear"\nlsmod = ""\n'
    path.write_text(RULE.replace('says = ["old modules"]', 'says = ["old modules"]\nunlike = "new modules"') + inside)
    file = beside(path)
    rule = load_file(path)
    assert [example.name for example in rule.examples] == ["two", "one"]
    assert (rule.signs[0].example, rule.signs[0].unlike) == ("These are old modules.", "new modules")
    file.write_text(EXAMPLES.replace('example = "These', 'unlike = "These'))
    with pytest.raises(DefinitionError, match="has this example in the file of the rule, too"):
        load_file(path)


def test_the_text_of_a_sign_with_a_name_is_free(path: Path) -> None:
    beside(path)
    path.write_text(RULE.replace("an old module is named", "a module of former times is named"))
    assert load_file(path).signs[1].example == "nv_peer_mem is loaded"


REFUSED = [  # replace this, by that (on the line of the fault), reason, help
    ("[[example]]", "[[exampel]]", "unknown key 'exampel'", "did you mean 'example'?"),
    ('outcome = "fired"', 'outcome = "fire"', "example[0].outcome: invalid enum value", "fired, clear, unknown"),
    ("lsmod =", "lsmode =", "'lsmode' is not a kind of section", "did you mean 'lsmod'?"),
    ("lsmod =", "qqqq =", "'qqqq' is not a kind of section", "dmesg, lsmod"),
    ("[sign.by-name]", "[sign.by-nam]", "the rule has no sign 'by-nam'", "did you mean 'by-name'?"),
    ("[sign.by-name]", "[sign.qqqq]", "the rule has no sign 'qqqq'", "known: a person says so, by-name"),
    ('unlike = "no', 'unlik = "no', "unknown key 'unlik' under [sign]", "did you mean 'unlike'?"),
    ('unlike = "no module"', "unlike = 3", "sign[...].unlike: expected `str`", ""),
]


@pytest.mark.parametrize(("old", "new", "reason", "hint"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(old: str, new: str, reason: str, hint: str, path: Path) -> None:
    assert old in EXAMPLES
    text = EXAMPLES.replace(old, new)
    file = beside(path, text)
    with pytest.raises(DefinitionError) as caught:
        load_file(path, Names(sections=frozenset({"lsmod", "dmesg"})))
    assert (reason in caught.value.reason, caught.value.file) == (True, str(file)), caught.value.reason
    assert caught.value.line == text[: text.index(new)].count("\n") + 1
    assert hint in caught.value.hint


def test_a_file_that_cannot_be_read_is_a_sentence(path: Path) -> None:
    path.with_name("old-modules.examples.toml").mkdir()
    with pytest.raises(DefinitionError, match=r"old-modules\.examples\.toml: this is not a regular file"):
        load_file(path)
    path.with_name("old-modules.examples.toml").rmdir()
    path.with_name("old-modules.examples.toml").write_bytes(b"\xff")
    with pytest.raises(DefinitionError, match=r"old-modules\.examples\.toml: the examples cannot be read"):
        load_file(path)


def test_examples_without_a_rule_are_named(path: Path) -> None:
    beside(path)
    assert orphans(path.parent.parent) == []
    lost = path.with_name("older.examples.toml")
    lost.write_text(EXAMPLES)
    assert orphans(path.parent.parent) == [lost]


def test_two_signs_of_one_text_need_names(path: Path) -> None:
    twice = RULE.replace('name = "by-name"\n', "").replace("an old module is named", "a person says so")
    path.write_text(twice)
    assert len(load_file(path).signs) == 2
    beside(path, EXAMPLES.partition("[sign.by-name]")[0])
    with pytest.raises(DefinitionError, match=r"two signs of the rule are called(?s:.)*give each a name"):
        load_file(path)
    path.write_text(RULE.replace('text = "a person says so"', 'name = "by-name"\ntext = "a person says so"'))
    with pytest.raises(DefinitionError, match="two signs are called 'by-name'"):
        load_file(path)
