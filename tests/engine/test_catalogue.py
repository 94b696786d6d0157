"""The compiled catalogue: the same rules as from TOML, refreshed when files change, and never in the way."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ncdiag import catalogue
from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError, NcdiagError, UsageError
from ncdiag.base.version import __version__
from ncdiag.engine.evaluate import judge
from ncdiag.engine.load import load_folder
from ncdiag.engine.schema import Rule
from ncdiag.facts.model import Job, Rank
from ncdiag.facts.view import View

RULE = """
code = "{code}"
name = "{name}"
area = "own"
severity = "warning"
role = "cause"
layer = 10
title = "Rank {{rank.rank}} of {{count(r for r in job.ranks)}} uses {{rank.net}}"
each = {{ rank = "job.ranks" }}
when = ['rank.net in ["Socket"] and not rank.nccl_version < "2.4"', 'any(r.net != "Socket" for r in job.ranks)']
unless = ['rank.setting.NCCL_NET.text == "Socket"', 'all(g.mig for g in rank.host.gpus if g.index < 3)']
why = "slow"
[[fix]]
kind = "env"
env = {{ NCCL_NET = "{{best.shared_interface}}" }}
when = ['rank.host.cloud != "aws"']
applies = {{ nccl = ">=2.4,<3.0" }}
[[example]]
name = "one"
outcome = "fired"
text = "x"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache, in a process that holds the shipped definitions."""
    catalogue.rules()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ncdiag"


@pytest.fixture
def new(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same in a process that has read nothing yet."""
    monkeypatch.setattr(compiled, "_HELD", {})
    return cache


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "pack" / "own").mkdir(parents=True)
    add(tmp_path / "pack", "own-rule")
    return tmp_path / "pack"


def add(folder: Path, name: str, code: str = "OWN001") -> Path:
    path = folder / "own" / f"{name}.toml"
    path.write_text(RULE.format(name=name, code=code), encoding="utf-8")
    return path


def own(folder: Path) -> list[str]:
    return [rule.name for rule in catalogue.rules([folder]) if rule.area == "own"]


def test_all_shipped_rules_are_right(new: Path) -> None:
    rules = catalogue.rules()
    assert [rule.code for rule in rules] == sorted(rule.code for rule in rules)
    assert all(rule.program is not None and not rule.examples for rule in rules)
    assert list(new.glob("rules-*.msgpack"))


def test_what_comes_from_the_cache_is_what_was_built_and_works(cache: Path, pack: Path) -> None:
    built = catalogue.rules([pack])
    assert list(cache.glob("pack0-*"))
    read = catalogue.rules([pack])
    assert read == built
    assert read is not built
    rule = next(rule for rule in read if rule.name == "own-rule")
    assert rule == msgspec.structs.replace(load_folder(pack)[0], examples=())
    job = Job(
        ranks=(Rank(host="a", rank=0, net="Socket"), Rank(host="a", rank=1, net="IB")), complete=frozenset({"ranks"})
    )
    verdict = judge([rule], View(job))[0]
    assert verdict.outcome == "unknown"  # the version is not known
    assert verdict.held_clauses == ()


def test_cache_files_are_private(cache: Path, pack: Path) -> None:
    catalogue.rules([pack])
    for path in cache.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_changed_file_is_read_again(cache: Path, pack: Path) -> None:  # noqa: ARG001
    assert own(pack) == ["own-rule"]
    add(pack, "second", "OWN002")
    assert own(pack) == ["own-rule", "second"]
    (pack / "own" / "own-rule.toml").unlink()
    assert own(pack) == ["second"]


def test_the_shipped_rules_are_read_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_HELD", {})
    assert catalogue.rules() is catalogue.rules()


def test_what_is_held_stays_until_the_next_process(cache: Path, tmp_path: Path) -> None:  # noqa: ARG001
    source = tmp_path / "words"

    def words() -> tuple[str, ...]:
        return compiled.hold("held-words", [source], lambda: tuple(source.read_text().split()), tuple[str, ...])

    source.write_text("a b")
    first = words()
    source.write_text("a b c")
    assert words() is first
    assert compiled.load("held-words", [source], lambda: ("built", "anew"), tuple[str, ...]) == ("built", "anew")


def test_a_packed_definition_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "words.msgpack"
    compiled.write(path, __version__, ("a", "b"))
    compiled.packed(path)
    (only,) = tmp_path.iterdir()
    assert only.name == "words.msgpack.xz"
    assert compiled.unpacked(path, tuple[str, ...]) == ("a", "b")
    only.write_bytes(only.read_bytes()[:-9])
    assert compiled.unpacked(path, tuple[str, ...]) is None
    only.unlink()
    assert compiled.unpacked(path, tuple[str, ...]) is None


def test_a_python_without_lzma_is_told_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(NcdiagError, match="without the module lzma"):
        compiled.unpacked(tmp_path / "words.msgpack", tuple[str, ...])


def test_rules_depend_on_the_code_of_all_facts() -> None:
    code = {str(Path(path).relative_to(compiled.PACKAGE)) for path in catalogue._code()}
    assert {"facts/view.py", "facts/model/network.py", "facts/vocabulary/hosts.py", "engine/clauses.py"} <= code
    assert not [path for path in code if not path.endswith(".py")]


def test_files_of_a_folder_come_in_a_fixed_order(tmp_path: Path) -> None:
    for name in ("b.py", "a/d.py", "a/c.py", "a/__pycache__/c.py", "c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [os.path.relpath(path, tmp_path) for path in compiled.files(tmp_path, ".py")] == ["a/c.py", "a/d.py", "b.py"]
    assert list(compiled.files(tmp_path / "nowhere", ".py")) == []


DAMAGE = [b"", b"\xc1", b"\x92\xa1x", msgspec.msgpack.encode(("x", [])), b"\x91" * 100_000, b"garbage" * 100]


@pytest.mark.parametrize("content", DAMAGE, ids=range(len(DAMAGE)))
def test_a_damaged_cache_is_ignored_and_replaced(cache: Path, pack: Path, content: bytes) -> None:
    right = catalogue.rules([pack])
    (path,) = cache.glob("pack0-*")
    good = path.read_bytes()
    path.write_bytes(content)
    assert catalogue.rules([pack]) == right
    assert path.read_bytes() == good


def test_every_cut_of_a_cache_file_is_ignored(tmp_path: Path, pack: Path) -> None:
    whole = tmp_path / "x.msgpack"
    compiled.write(whole, "stamp", load_folder(pack))
    data = whole.read_bytes()
    assert compiled.read(whole, "stamp", tuple[Rule, ...]) is not None
    assert compiled.read(whole, "other", tuple[Rule, ...]) is None
    for end in range(0, len(data), 7):
        whole.write_bytes(data[:end])
        assert compiled.read(whole, "stamp", tuple[Rule, ...]) is None


def test_a_cache_that_cannot_be_written_is_no_matter(
    tmp_path: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert own(pack) == ["own-rule"]
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    assert own(pack) == ["own-rule"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_cache_file_of_somebody_else_is_ignored(cache: Path, pack: Path) -> None:
    catalogue.rules([pack])
    (path,) = cache.glob("pack0-*")
    os.chown(path, 12345, -1)
    assert compiled.read(path, path.stem, tuple[Rule, ...]) is None


def test_old_files_of_the_cache_are_dropped(cache: Path, pack: Path) -> None:
    for n in range(12):
        os.utime(pack / "own" / "own-rule.toml", (n, n))
        assert own(pack) == ["own-rule"]
    assert len(list(cache.glob("pack0-*"))) == 8


def test_private_packs_are_checked(cache: Path, pack: Path, tmp_path: Path) -> None:  # noqa: ARG001
    with pytest.raises(UsageError, match="not a folder of rules"):
        catalogue.rules([tmp_path / "nowhere"])
    with pytest.raises(DefinitionError, match="'OWN001' belongs to the rule"):
        catalogue.rules([pack, pack])
    broken = add(pack, "broken", "OWN003")
    broken.write_text(broken.read_text().replace("rank.net in", "rank.nte in"))
    with pytest.raises(DefinitionError, match="did you mean 'net'"):
        catalogue.rules([pack])


def test_names_of_messages_and_variables_are_known() -> None:
    names = catalogue.names()
    assert {"NCCL_SOCKET_IFNAME", "NCCL_IB_GID_INDEX", "NCCL_PROTOS"} <= names.settings
    assert catalogue.parsed_events().keys() <= names.events
    assert {kind for kinds in names.holes.values() for kind in kinds} == {"int", "float", "str"}


FIRST = {"Found", "Told"}
"""What makes an event named by the first argument; ``observe``, a function or a method, names it by ``event=``."""


def test_every_event_that_a_parser_names_is_known(project: Path) -> None:
    named = set()
    for path in (project / "ncdiag" / "parsers").rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            function = ast.unparse(call.func).rpartition(".")[2]
            if function in {*FIRST, "observe"}:
                told = [keyword.value for keyword in call.keywords if keyword.arg == "event"]
                told += call.args[:1] if function in FIRST else []
                named |= {node.value for node in told if isinstance(node, ast.Constant)}
    assert {"error-return", "ibstat-failed"} <= named
    assert named <= catalogue.names().events


def test_the_build_command_explains_itself() -> None:
    done = subprocess.run([sys.executable, "-m", "ncdiag.catalogue"], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "build FOLDER" in done.stderr
