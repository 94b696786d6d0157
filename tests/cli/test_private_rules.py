"""Rules of a site's own: the page about them, `rules new`, `rules test DIR`, and the configuration file."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag import catalogue
from ncdiag.apps.explaining import facts
from ncdiag.apps.explaining.rule_pages import INDEX
from ncdiag.base import config

Run = Callable[..., subprocess.CompletedProcess[bytes]]

PASTE = b"mpirun -np 16 -H n1:8,n2:8 -x NCCL_IB_DISABLE=1 ./train\n"
RULE = "env-ib-disable"


def names(done: subprocess.CompletedProcess[bytes]) -> set[str]:
    return {finding["name"] for finding in json.loads(done.stdout)["findings"]}


def test_the_rule_of_the_page_holds(project: Path, tmp_path: Path, ncdiag: Run) -> None:
    page = (project / "docs" / "private-rules.md").read_text()
    [rule] = re.findall(r"```toml\n(code = .*?)```", page, re.DOTALL)
    [told] = re.findall(r"```\n(site-rules/site/\S+?:\d+: .*?)```", page, re.DOTALL)
    file = tmp_path / told.partition(":")[0]
    file.parent.mkdir(parents=True)
    file.write_text(rule)
    done = ncdiag("rules", "test", "site-rules", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"1 rules, 4 examples, 0 problems\n")
    file.write_text(rule.replace('i = "h.interfaces"', 'i = "h.interface"'))
    done = ncdiag("rules", "test", "site-rules", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"ncdiag: {told}"


def test_a_new_rule_is_complete_and_never_overwritten(tmp_path: Path, ncdiag: Run) -> None:
    for name in ("our-net", "our-other-net"):
        assert ncdiag("rules", "new", name, "--in", str(tmp_path)).returncode == 0
    done = ncdiag("rules", "test", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, b"2 rules, 8 examples, 0 problems\n")
    codes = [
        re.findall(r'^code = "(.*)"', path.read_text(), re.MULTILINE)[0] for path in sorted(tmp_path.glob("*/*.toml"))
    ]
    assert codes == ["SITE001", "SITE002"]
    for word in ("our-net", RULE, "../x", "Our", ""):
        assert ncdiag("rules", "new", word, "--in", str(tmp_path)).returncode == 2
    assert ncdiag("rules", "new", "x", "--prefix", "lower", "--in", str(tmp_path)).returncode == 2
    assert ncdiag("rules", "new", "x", "--in", "/proc/none").returncode == 4


def test_every_broken_file_of_a_pack_is_told(tmp_path: Path, ncdiag: Run) -> None:
    for name in ("one", "two", "three"):
        ncdiag("rules", "new", name, "--in", str(tmp_path))
    one, two = tmp_path / "site/one.toml", tmp_path / "site/two.toml"
    one.write_text(one.read_text().replace("s.text not in", "s.txt not in"))
    two.write_text("code = [")
    done = ncdiag("rules", "test", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{one}:14: Setting has no field 'txt'" in done.stderr.decode()
    assert "help: did you mean 'text'?" in done.stderr.decode()
    assert f"{two}:1: this is not valid TOML" in done.stderr.decode()


def test_an_empty_pack_is_told(tmp_path: Path, ncdiag: Run) -> None:
    done = ncdiag("rules", "test", str(tmp_path))
    assert done.returncode == 2
    assert b"is not a folder of rules" in done.stderr


@pytest.mark.parametrize(
    ("ignore", "left_out"),
    [
        ('rule = "env-ib-disable"\nreason = "ticket 123"', True),
        ('rule = "env-ib-disable"\nreason = "ticket 123"\nuntil = 9999-01-01', True),
        ('rule = "env-ib-disable"\nreason = "ticket 123"\nuntil = 2020-01-01', False),
    ],
    ids=["for ever", "not yet over", "over"],
)
def test_a_standing_order_leaves_a_rule_out_and_says_so(
    ignore: str, left_out: bool, tmp_path: Path, ncdiag: Run
) -> None:
    (tmp_path / "ncdiag.toml").write_text(f"[[ignore]]\n{ignore}\n")
    done = ncdiag("triage", "--format", "json", "-", input=PASTE, cwd=tmp_path)
    assert (RULE not in names(done)) == left_out
    told = " ".join(json.loads(done.stdout)["summary"]["not_looked_at"])
    assert ("ticket 123" in told) == left_out


def test_the_configuration_is_found_and_its_packs_lie_beside_it(tmp_path: Path, ncdiag: Run) -> None:
    ncdiag("rules", "new", "our-net", "--in", str(tmp_path / "pack"))
    file = tmp_path / "elsewhere.toml"
    file.write_text('rules = ["pack"]\n')
    paste = b"export NCCL_SOCKET_IFNAME=eth0\n"

    def found(*options: str, **environment: str) -> set[str]:
        return names(ncdiag("triage", "--format", "json", *options, "-", input=paste, env=environment))

    assert "our-net" in found("--config", str(file))
    assert "our-net" in found(NCDIAG_CONFIG=str(file))
    assert "our-net" not in found(NCDIAG_CONFIG="")
    (tmp_path / "config/ncdiag").mkdir(parents=True)
    file.rename(tmp_path / "config/ncdiag/config.toml")
    (tmp_path / "pack").rename(tmp_path / "config/ncdiag/pack")
    assert "our-net" in found(XDG_CONFIG_HOME=str(tmp_path / "config"))
    shown = ncdiag("rules", "show", "our-net", env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert shown.stdout.startswith(b"our-net (SITE001")


def test_a_configuration_of_somebody_else_is_not_used_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ncdiag.toml"
    file.write_text('rules = ["pack"]\n')
    monkeypatch.chdir(tmp_path)
    nothing = {"HOME": str(tmp_path / "nobody")}
    assert config.find(nothing) == config.PROJECT
    assert config.passed_over(nothing) is None
    owner = file.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    if owner:  # what root owns counts for all
        assert config.find(nothing) != config.PROJECT
        assert config.passed_over(nothing) == config.PROJECT
    else:
        os.chown(file, 65534, -1)
        assert config.find(nothing) != config.PROJECT
        assert config.passed_over(nothing) == config.PROJECT
    assert config.load(file).rules == ("pack",), "asked for, it is used"


@pytest.mark.parametrize("name", ["site/pipe.toml", "areas.toml", "site/words.toml"])
@pytest.mark.parametrize(
    ("kind", "told"), [("pipe", "not a regular file"), ("device", "not a regular file"), ("huge", "longer than 1 MiB")]
)
def test_a_pack_holds_regular_files_alone(name: str, kind: str, told: str, tmp_path: Path, ncdiag: Run) -> None:
    ncdiag("rules", "new", "our-net", "--in", str(tmp_path / "pack"))
    path = tmp_path / "pack" / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(2 << 20)
    done = ncdiag("triage", "--rules", str(tmp_path / "pack"), "-", input=PASTE)
    assert done.returncode == 2
    assert told.encode() in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_pack_that_holds_itself_is_read_once(tmp_path: Path, ncdiag: Run) -> None:
    ncdiag("rules", "new", "our-net", "--in", str(tmp_path / "pack"))
    for name in ("a", "b", "c"):
        (tmp_path / "pack" / name).symlink_to(tmp_path / "pack")
    done = ncdiag(
        "triage", "--format", "json", "--rules", str(tmp_path / "pack"), "-", input=b"export NCCL_SOCKET_IFNAME=eth0\n"
    )
    assert "our-net" in names(done)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rules = [", "this is not valid TOML"),
        ('rule = "x"', "unknown field `rule`"),
        ('[[ignore]]\nrule = "env-ib-disable"', "missing required field `reason`"),
        ('file = "x"', "unknown key 'file'"),
        ('[[ignore]]\nrule = "no-such-rule"\nreason = "x"', "there is no rule 'no-such-rule'"),
        ('rules = ["nowhere"]', "is not a folder of rules"),
        ("[" * 5000, "this is not valid TOML"),
    ],
)
def test_a_configuration_that_is_wrong(text: str, told: str, tmp_path: Path, ncdiag: Run) -> None:
    file = tmp_path / "c.toml"
    file.write_text(text)
    done = ncdiag("triage", "--config", str(file), "-", input=PASTE)
    assert done.returncode == 2
    assert told in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_configuration_that_is_not_there(ncdiag: Run) -> None:
    done = ncdiag("triage", "--config", "/no/such/file", "-", input=PASTE)
    assert (done.returncode, b"cannot be read" in done.stderr) == (2, True)


def test_every_derived_field_stands_alone() -> None:
    """Each is looked up by itself: a docstring that leans on the field before it says nothing there."""
    leaning = re.compile(
        r"(?:Is|Are|Does|Do|Was|Were|Has|Have|Did) (?:it|they|anything|there such|any)\b.{0,25}\?"
        r"|(?:A sentence about (?:it|them)|That|Those|The same|Their|Its)\b.{0,30}$"
    )
    found = [field for owner in facts.fact_types() for field in facts.fields(owner) if field.is_derived]
    assert len(found) > len(facts.fact_types())
    told = [f"{field.owner}.{field.name}: {field.meaning}" for field in found]
    assert [
        text for text in told if leaning.match(text.split(": ", 1)[1]) or len(text.split(": ", 1)[1].split()) < 4
    ] == []


def test_explain_knows_types_and_fields(ncdiag: Run) -> None:
    for thing, words in (("Host", b"sees_no_gpu"), ("Host.sees_no_gpu", b"yes or no"), ("Port.state", b"one of down")):
        done = ncdiag("explain", thing)
        assert (done.returncode, words in done.stdout) == (0, True), thing
    assert b"did you mean 'Host.sees_no_gpu'" in ncdiag("explain", "Host.sees_no_gpus").stderr


def test_pages_of_rules_that_are_gone_are_removed(tmp_path: Path, ncdiag: Run) -> None:
    for name in ("one", "two"):
        ncdiag("rules", "new", name, "--in", str(tmp_path / "pack"))
    pages = tmp_path / "pages"
    assert ncdiag("rules", "pages", str(pages), "--rules", str(tmp_path / "pack")).returncode == 0
    (pages / "own.md").write_text("not a page")
    (tmp_path / "pack/site/two.toml").unlink()
    assert ncdiag("rules", "pages", str(pages), "--rules", str(tmp_path / "pack")).returncode == 0
    assert {path.name for path in pages.iterdir()} == {INDEX, "SITE001.md", "own.md"}


def test_a_rule_of_the_project_is_begun_by_the_same_command(project: Path, tmp_path: Path, ncdiag: Run) -> None:
    """The shipped rules, which it is put among, are no pack beside themselves."""

    assert catalogue.rules([project / "rules"]) == catalogue.rules()
    done = ncdiag("rules", "new", "our-net", "--in", str(tmp_path), "--prefix", "NCD")
    assert done.returncode == 0, done.stderr
    highest = max(int(rule.code[3:]) for rule in catalogue.rules())
    assert f'code = "NCD{highest + 1}"' in next(tmp_path.glob("*/our-net.toml")).read_text()


OLD_PACK = """
code = "SITE700"
name = "scratch-full"
area = "site"
severity = "error"
role = "cause"
strength = "certain"
title = "{s.text} is full"
each = { s = "job.settings" }
when = ['s.name == "NCCL_DEBUG_FILE"', 's.text == "/scratch/full"']
why = "The scratch disk of this site is full."
references = ["https://wiki.example.org/scratch"]

[suspect]
text = "The scratch disk is full"
complaints = ["fails"]

[[sign]]
text = "the disk is named"
strength = "strong"
says = ["scratchdisk ... overflows"]
example = "the scratchdisk of our site overflows"
unlike = "the scratchdisk has room"

[[sign]]
text = "the daemon of the disk speaks"
says = ["scratchd99 quota"]
example = "scratchd99: quota"

[[fix]]
kind = "command"
text = "Remove old files."
confirm = "df prints less than 90%"

[[example]]
name = "the full disk"
outcome = "fired"
env = "NCCL_DEBUG_FILE=/scratch/full"

[[example]]
name = "another file"
outcome = "clear"
env = "NCCL_DEBUG_FILE=/tmp/x"

[[example]]
name = "another variable"
outcome = "clear"
env = "NCCL_DEBUG=/scratch/full"

[[example]]
name = "no variables"
outcome = "unknown"
text = "hello"

[text.zh]
of = "12345678"
title = "{s.text} 已满"
why = "站点的 scratch 磁盘已满。"
signs = ["提到了磁盘", "磁盘的守护进程有输出"]
fixes = ["删除旧文件。"]
"""
"""A rule as packs had it before examples and translations had files."""


def test_a_rule_in_one_file_stays_as_it_was(tmp_path: Path, ncdiag: Run) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "scratch-full.toml").write_text(OLD_PACK, encoding="utf-8")
    done = ncdiag("rules", "test", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, b"1 rules, 4 examples, 2 signs, 0 problems\n")
    shown = ncdiag("rules", "show", "scratch-full", "--rules", str(tmp_path), "--lang", "zh").stdout.decode()
    for words in ("{s.text} 已满", "站点的 scratch 磁盘已满。", "磁盘的守护进程有输出", "删除旧文件。"):
        assert words in shown


def test_a_pack_may_keep_its_examples_beside_the_rule(tmp_path: Path, ncdiag: Run) -> None:
    (tmp_path / "site").mkdir()
    head, _, rest = OLD_PACK.partition("[[example]]")
    examples, _, translation = f"[[example]]{rest}".partition("[text.zh]")
    (tmp_path / "site" / "scratch-full.toml").write_text(f"{head}[text.zh]{translation}", encoding="utf-8")
    beside = tmp_path / "site" / "scratch-full.examples.toml"
    beside.write_text(examples, encoding="utf-8")
    done = ncdiag("rules", "test", str(tmp_path))
    assert done.stdout == b"1 rules, 4 examples, 2 signs, 0 problems\n"
    beside.rename(tmp_path / "site" / "scratch.examples.toml")
    done = ncdiag("rules", "test", str(tmp_path))
    assert (done.returncode, b"scratch.examples.toml: there is no rule beside these examples" in done.stderr) == (
        2,
        True,
    )
