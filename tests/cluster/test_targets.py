"""Which hosts ``--nodes`` means."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from ncdiag.apps.cluster import Wish
from ncdiag.apps.cluster.model import Answer
from ncdiag.apps.cluster.sweep import asked, chosen
from ncdiag.apps.cluster.targets import targets
from ncdiag.base.errors import UsageError
from ncdiag.commands._sweep import beginning


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node[001-003]", "node001 node002 node003"),
        ("node[1-3,7],login", "login node1 node2 node3 node7"),
        ("node[1-8]!node[3-8]", "node1 node2"),
        ("a:8,b:8", "a b"),
        ("n[1-2]:4", "n1 n2"),
        ("10.0.0.1,10.0.0.2", "10.0.0.1 10.0.0.2"),
        ("n1,n1,n1", "n1"),
        (",".join(f"node{number}" for number in range(100)), " ".join(f"node{number}" for number in range(100))),
        ("rack[1-2]node[1-2].cluster", "rack1node1.cluster rack1node2.cluster rack2node1.cluster rack2node2.cluster"),
    ],
)
def test_sets_and_lists(text: str, names: str) -> None:
    assert sorted(targets(text)) == sorted(names.split())


@pytest.mark.parametrize(
    "text",
    ["node1 slots=8\nnode2 slots=8\n", "node1:8\nnode2:8", "# two\nroot@node1\n\n  node2  max_slots=4 # gpu\n",
     "node[1-2]\n", "node2\r\nnode1\r\nnode2\r\n"],
)  # fmt: skip
def test_files_of_hosts(text: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_bytes(text.encode())
    assert sorted(targets(str(file))) == ["node1", "node2"]


def test_groups_are_those_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "groups.conf").write_text("[Main]\ndefault: local\n[local]\nmap: echo n1,n2\nlist: echo gpu\n")
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", str(tmp_path))
    monkeypatch.setattr("ClusterShell.NodeSet.RESOLVER_STD_GROUP", None)
    from ClusterShell import NodeUtils

    resolver = NodeUtils.GroupResolverConfig([str(tmp_path / "groups.conf")])
    monkeypatch.setattr("ClusterShell.NodeSet.RESOLVER_STD_GROUP", resolver)
    assert sorted(targets("@gpu")) == ["n1", "n2"]


def test_a_group_where_no_source_of_groups_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ClusterShell import NodeUtils

    resolver = NodeUtils.GroupResolverConfig([str(tmp_path / "groups.conf")])
    monkeypatch.setattr("ClusterShell.NodeSet.RESOLVER_STD_GROUP", resolver)
    with pytest.raises(UsageError, match="--nodes @gpu: ClusterShell cannot look up the group"):
        targets("@gpu")


@pytest.mark.parametrize(
    "text", ["node[1-", "", "@nosuchgroup", "-oProxyCommand=touch\x20x", "a b", "n1,-l", "$(id)", f"n[1-{9 * 10**41}]"]
)
def test_what_names_no_host_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        targets(text)


def test_what_carries_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"ssh", "srun", "mpirun"}
    monkeypatch.setattr("ncdiag.apps.cluster.sweep.shutil.which", lambda name: name if name in there else None)
    assert chosen("n[1-2]", {}) == "ssh"
    assert chosen("n[1-2]", {"SLURM_JOB_ID": "7"}) == "srun"
    assert chosen("app=train", {"SLURM_JOB_ID": "7"}) == "kubectl"
    there -= {"ssh"}
    assert chosen("n1", {}) == "srun"
    there -= {"srun"}
    assert chosen("n1", {"SLURM_JOB_ID": "7"}) == "mpirun"
    there.clear()
    with pytest.raises(UsageError, match="none of ssh"):
        chosen("n1", {})


def groups_in(folder: Path, groups: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ClusterShell read these groups, in the layout of its package."""
    (folder / "groups.d").mkdir()
    (folder / "groups.conf").write_text(
        "[Main]\ndefault: local\n[local]\nmap: sed -n 's/^$GROUP://p' $CFGDIR/groups.d/local.cfg\n"
        "all: sed -n 's/^all://p' $CFGDIR/groups.d/local.cfg\nlist: sed -n 's/:.*//p' $CFGDIR/groups.d/local.cfg\n"
    )
    (folder / "groups.d" / "local.cfg").write_text(groups)
    from ClusterShell import NodeUtils

    resolver = NodeUtils.GroupResolverConfig([str(folder / "groups.conf")])
    monkeypatch.setattr("ClusterShell.NodeSet.RESOLVER_STD_GROUP", resolver)


PACKAGED = "adm: example0\ngpu: example[156-159]\nall: example[4-6,32-159]\n"


@pytest.mark.parametrize("text", ["*", "@gpu", "@local:gpu", "n1,@adm", "@*", "example*"])
def test_the_packaged_example_groups_are_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups_in(tmp_path, PACKAGED, monkeypatch)
    with pytest.raises(UsageError, match="means the example groups packaged with ClusterShell"):
        targets(text)


def test_groups_that_the_site_added_to_the_packaged_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups_in(tmp_path, f"{PACKAGED}mine: n1,n2\n", monkeypatch)
    assert sorted(targets("@mine")) == ["n1", "n2"]
    assert targets("example4") == ("example4",)  # named, not looked up


def test_all_hosts_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups_in(tmp_path, "all: example[1-2]\ngpu: example1\n", monkeypatch)
    assert sorted(targets("*")) == ["example1", "example2"]
    assert targets("@gpu") == ("example1",)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("n[1-99999999]", "99,999,999"),
        ("n[0-99999999999999999999]", "1,000,000,000,000,000,000"),
        ("r[1-1000]n[1-1000]", "1,000,000"),
        ("n[1-60000],m[00001-60000]", "120,000"),
        ("n[1-99999999]&n[1-2]", "100,000,001"),
        ("@g[1-99999999]", "99,999,999"),
        ("n[1,3-1000000/2]", "500,000"),
    ],
)
def test_sets_that_are_too_large_are_not_expanded(text: str, count: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ClusterShell.NodeSet.NodeSet.__init__", lambda *_: pytest.fail("expanded") if _[1:] else None)
    with pytest.raises(UsageError) as refused:
        targets(text)
    assert f"names {count} hosts, more than the maximum of 100,000" in str(refused.value)


def test_a_set_of_the_largest_size() -> None:
    assert len(targets("n[1-100000]")) == 100_000


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("count", "yes", "typed", "asks", "goes"),
    [
        (200, False, "", False, True), (201, False, "y\n", True, True), (201, False, "\n", True, False),
        (201, False, "no\n", True, False), (201, False, "", True, False), (201, True, "", False, True),
    ],
)  # fmt: skip
def test_many_hosts_are_contacted_after_a_question(
    monkeypatch: pytest.MonkeyPatch, count: int, typed: str, *, yes: bool, asks: bool, goes: bool
) -> None:
    printed = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr", printed)
    went: list[object] = []

    def by_shells(hosts: object, *_: object) -> list[Answer]:
        went.append(hosts)
        return []

    monkeypatch.setattr("ncdiag.apps.cluster.sweep._by_shells", by_shells)
    with contextlib.nullcontext() if goes else pytest.raises(UsageError, match="no host was contacted"):
        asked(f"n[1-{count}]", "ssh", "true", Wish(begin=beginning(yes=yes)))
    assert bool(went) is goes
    assert (
        printed.getvalue() == "ncdiag: 201 hosts will be contacted (--yes does not ask)\nncdiag: Continue? [y/N]\n"
    ) is asks


def test_without_a_terminal_the_number_of_hosts_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    beginning(yes=False)(300)
    assert capsys.readouterr().err == "ncdiag: 300 hosts will be contacted (--yes does not ask)\n"
