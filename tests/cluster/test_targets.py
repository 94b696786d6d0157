"""Which hosts ``--nodes`` means."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.apps.cluster.sweep import chosen
from ncdiag.apps.cluster.targets import targets
from ncdiag.base.errors import UsageError


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


@pytest.mark.parametrize("text", ["node[1-", "", "@nosuchgroup", "-oProxyCommand=touch\x20x", "a b", "n1,-l", "$(id)"])
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
