"""Rule files: what loads, and what is refused with file, line and help."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.engine.load import check_unique, load_file, load_folder, load_text
from ncdiag.engine.schema import AREAS, DEFAULT_LAYER
from ncdiag.engine.scope import Names

RULE = '''
code = "NCD900"
name = "too-few-gpus"
area = "gpu"
severity = "warning"
role = "cause"
layer = 10
title = "{host.name} has {count(g for g in host.gpus)} GPUs"
each = { host = "job.hosts" }
when = ['count(g for g in host.gpus) < 8']
why = "GPUs are missing; braces are written twice: {{}}"
explains = ["slow", "old-name"]

[[asks]]
missing = "the GPUs of the host"
ask_for = "nvidia-smi -L"

[[fix]]
kind = "hardware"
text = "Look at {host.name}"
risk = "none"

[[example]]
name = "one GPU"
outcome = "fired"
host = "node1"
nvidia_smi_L = """
GPU 0: NVIDIA H100 (UUID: GPU-1)
"""
lsmod = ["a", "b"]
'''


def write(folder: Path, text: str, area: str = "gpu", name: str = "too-few-gpus") -> Path:
    path = folder / area / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_rule_with_its_examples(tmp_path: Path) -> None:
    rule = load_file(write(tmp_path, RULE))
    assert rule.strength == "likely"
    assert rule.asks[0].ask_for == "nvidia-smi -L"
    assert rule.fixes[0].kind == "hardware"
    (example,) = rule.examples
    assert example.host == "node1"
    assert example.sections == {"nvidia_smi_L": ("GPU 0: NVIDIA H100 (UUID: GPU-1)\n",), "lsmod": ("a", "b")}
    assert rule.program is not None


REFUSED = [  # replace this, by that (which stands on the line of the fault), reason, help
    ('role = "cause"', 'rol = "cause"', "unknown key 'rol'", "did you mean 'role'?"),
    ("layer = 10", 'complaint = "hnags"', "complaint: invalid enum value 'hnags'", "hangs, slow, crashes"),
    ('kind = "hardware"', 'knid = "hardware"', "unknown key 'knid' under [fix]", "did you mean 'kind'?"),
    ('ask_for = "nv', 'askfor = "nv', "unknown key 'askfor' under [asks]", "did you mean 'ask_for'?"),
    ("layer = 10", 'layer = "low"', "layer: expected `int`", "layers of areas: gpu 5, env 40"),
    ('role = "cause"', 'role = "reason"', "role: invalid enum value 'reason'", "allowed: cause, symptom"),
    ('severity = "warning"', 'severity = "high"', "severity: invalid enum value", "allowed: error, warning, info"),
    ("layer = 10", 'strength = "sure"', "strength: invalid enum value 'sure'", "certain, likely, possible"),
    (
        "layer = 10",
        'suspect = { text = "t", prior = "often" }',
        "suspect.prior: invalid enum",
        "common, uncommon, rare",
    ),
    ('kind = "hardware"', 'kind = "hard"', "fix[0].kind: invalid enum value 'hard'", "env, unset, command"),
    ('outcome = "fired"', 'outcome = "fire"', "example[0].outcome: invalid enum value", "fired, clear, unknown"),
    ('code = "NCD900"', "", "missing required field `code`", ""),
    ('code = "NCD900"', 'code = "x"', "'x' is not a code", "NCD101"),
    ('explains = ["slow", "old-name"]', 'formerly = ["Old_Name"]', "'Old_Name' is not a name", "hyphens"),
    ("host.gpus) < 8", "host.gpu) < 8", "Host has no field 'gpu'", "did you mean 'gpus'?"),
    ("when = ['count(g for g in host.gpus) < 8']", "when = []", "neither conditions nor signs", ""),
    ('{ host = "job.hosts" }', '{ any = "job.hosts" }', "each cannot bind 'any'", ""),
    ('{ host = "job.hosts" }', '{ host = "job.hots" }', "Job has no field 'hots'", "did you mean 'hosts'?"),
    ('{ host = "job.hosts" }', '{ host = "job.hosts", o = "job.hosts" }', "quadratic", "already bound"),
    ('"{host.name} has', '"{host.nam} has', "Host has no field 'nam'", "did you mean 'name'?"),
    ('"Look at {host.name}"', '"Look at {host}"', "a Host cannot be shown", ".name"),
    ('"Look at {host.name}"', '"Look at {host.name"', "has no partner", "written twice"),
    ('"Look at {host.name}"', '"Look at {best.hots}"', "no value is called 'hots'", "did you mean 'hosts'?"),
    ('risk = "none"', 'applies = { nccl = "new" }', "'new' is not a version condition", ""),
    ('risk = "none"', "applies = { ncl = '2' }", "unknown key 'ncl' under [fix.applies]", "'nccl'"),
    ('lsmod = ["a", "b"]', 'lsmode = "a"', "'lsmode' is not a kind of section", "did you mean 'lsmod'?"),
    ("layer = 10", "layer = = 10", "this is not valid TOML", ""),
    ("layer = 10", "program = 10", "unknown key 'program'", ""),
    ("layer = 10", "place = 10", "unknown key 'place'", ""),
]


@pytest.mark.parametrize(("old", "new", "reason", "hint"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refused(old: str, new: str, reason: str, hint: str) -> None:
    names = Names(
        values=frozenset({"hosts"}), sections=frozenset({"lsmod", "nvidia_smi_L"}), layers={"gpu": 5, "env": 40}
    )
    assert old in RULE
    text = RULE.replace(old, new)
    line = text[: text.index(new)].count("\n") + 1 if new else 0
    with pytest.raises(DefinitionError) as caught:
        load_text(text, names, file="x.toml")
    assert reason in caught.value.reason
    assert caught.value.file == "x.toml"
    assert hint in caught.value.hint
    assert caught.value.line == line


def test_file_and_folder_are_called_after_the_rule(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"the file is called other\.toml"):
        load_file(write(tmp_path, RULE, name="other"))
    with pytest.raises(DefinitionError, match="the folder is called net, but the area is 'gpu'"):
        load_file(write(tmp_path, RULE, area="net"))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00", b"[" * 20000, b"a = " + b"[" * 3000])
def test_a_broken_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "")
    path.write_bytes(content)
    with pytest.raises(DefinitionError, match=r"too-few-gpus\.toml"):
        load_file(path)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "gpu" / "folder.toml").mkdir(parents=True)
    with pytest.raises(DefinitionError, match="not a regular file"):
        load_folder(tmp_path)


def test_codes_and_names_old_ones_included_belong_to_one_rule(tmp_path: Path) -> None:
    write(tmp_path, RULE)
    other = RULE.replace("NCD900", "NCD901").replace('"too-few-gpus"', '"few"\nformerly = ["too-few-gpus"]')
    write(tmp_path, other, name="few")
    with pytest.raises(DefinitionError, match="'too-few-gpus' belongs to the rule"):
        load_folder(tmp_path)


def test_rules_are_sorted_by_code(tmp_path: Path) -> None:
    write(tmp_path, RULE)
    other = RULE.replace("NCD900", "NCD100").replace('"too-few-gpus"', '"few"\nformerly = ["old-name"]')
    write(tmp_path, other, name="few")
    rules = load_folder(tmp_path)
    assert [rule.code for rule in rules] == ["NCD100", "NCD900"]
    check_unique(rules)


def _with_words(folder: Path, words: str) -> Path:
    area = folder / "gpu"
    area.mkdir()
    (area / "words.toml").write_text(words)
    path = area / "few-modules.toml"
    path.write_text(
        'code = "NCD901"\nname = "few-modules"\narea = "gpu"\nseverity = "info"\nrole = "cause"\nlayer = 10\n'
        'title = "t"\nwhy = "w"\neach = { h = "job.hosts" }\nwhen = ["any(m.name in words.{} for m in h.modules)"]\n'
    )
    return path


def test_a_list_of_the_area_has_a_name(tmp_path: Path) -> None:
    path = _with_words(tmp_path, 'old = ["nv_peer_mem", "gdrdrv"]\n')
    path.write_text(path.read_text().replace("words.{}", "words.old"))
    assert [rule.name for rule in load_folder(tmp_path)] == ["few-modules"]


@pytest.mark.parametrize(
    ("words", "name", "told"),
    [
        ('old = ["a"]\n', "odl", "did you mean 'old'"),
        ('old = ["a"]\n', "new", "no list is called 'new'"),
        ("old = [1]\n", "old", "is a number|is an? int"),
        ('old = "a"\n', "old", r"words\.toml:1: old: expected `array`(?s:.)*name = "),
        ("old = [\n", "old", r"words\.toml"),
    ],
)
def test_a_list_that_is_wrong_is_told(tmp_path: Path, words: str, name: str, told: str) -> None:
    path = _with_words(tmp_path, words)
    path.write_text(path.read_text().replace("words.{}", f"words.{name}"))
    with pytest.raises(DefinitionError, match=told):
        load_folder(tmp_path)


def test_the_layer_is_that_of_the_area_or_the_rules_own(tmp_path: Path) -> None:
    path = write(tmp_path, RULE.replace("layer = 10\n", ""))
    assert load_file(path).layer == DEFAULT_LAYER
    assert load_file(path, Names(layers={"gpu": 7})).layer == 7
    (tmp_path / AREAS).write_text("gpu = 5  # the GPUs\n")
    assert load_file(path, Names(layers={"gpu": 7})).layer == 5
    path.write_text(RULE)
    assert load_file(path).layer == 10
    (tmp_path / AREAS).write_text('gpu = "low"\n')
    with pytest.raises(DefinitionError, match=r"areas\.toml:1: gpu: expected `int`(?s:.)*gpu = 5"):
        load_file(path)
