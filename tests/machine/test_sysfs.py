"""Trees of files as such: links, names, garbage, folders that are files, this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ncdiag.agent.look import natural
from ncdiag.facts.model import Host
from ncdiag.facts.model.declared import observed
from ncdiag.facts.observe import Observation
from ncdiag.machine import sockets, sysfs, sysfs_net
from ncdiag.machine.live import collect
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]
HostOf = Callable[[list[Observation]], Host]
Every = Callable[[Tree], Iterator[Observation]]
HERE = Tree(Path("/"), "here")


def test_links_out_of_a_recorded_tree_are_not_followed(tmp_path: Path, every: Every) -> None:
    secret = tmp_path / "secret"
    secret.write_text("outside")
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    (root / "proc/cmdline").symlink_to(secret)
    (root / "sys").symlink_to("/sys")
    os.mkfifo(root / "proc/modules")
    (root / "inside").write_text("fine")
    (root / "link").symlink_to("inside")
    tree = Tree(root, "n1")
    assert tree.text("proc/cmdline") is None
    assert tree.names("sys/class/net") is None
    assert tree.refused["proc/cmdline"] == "leads out of the recorded tree"
    assert tree.text("link") == "fine"
    assert tree.data("proc/modules") == b"", "a pipe does not block"
    assert "outside" not in str(list(every(tree)))


def test_names_are_in_natural_order() -> None:
    names = ["mlx5_10", "mlx5_2", "mlx5_bond_0", "a", "10", "9", "9" * 40]
    assert sorted(names, key=natural)[-3:] == ["mlx5_2", "mlx5_10", "mlx5_bond_0"]


def test_garbage_in_every_file_is_unknown_and_no_exception(project: Path, tmp_path: Path, host_of: HostOf) -> None:
    source = project / "fixtures" / "roots" / "roce8"
    garbage = [b"", b"\xff\xfe\0\0", b"-1\n", b"9" * 500, b"\n\n\n", "²³ GT/s".encode(), b": :\t: \0"]
    for index, path in enumerate(sorted(p for p in source.rglob("*") if p.is_file())):
        target = tmp_path / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(garbage[index % len(garbage)])
    host = host_of(collect(tmp_path, host="n1").observations)
    assert host.name == "n1"
    assert not any(port.state for hca in host.hcas for port in hca.ports)


def test_files_where_folders_should_be(tmp_path: Path, write: Write, every: Every) -> None:
    tree = write(tmp_path, {"sys/class": "x", "proc/net": "x", "dev": "x", "sys/bus/pci/devices": "x"})
    assert all(o.entity in observed() for o in every(tree))
    assert collect(tmp_path).not_seen


def test_this_machine(tmp_path: Path, host_of: HostOf, every: Every) -> None:
    assert not list(every(Tree(tmp_path, "n1"))), "nothing there, nothing claimed"
    found = list(every(HERE))
    assert {o.entity for o in found} <= observed().keys()
    assert "ulimit" in sysfs.complete(found)
    host_of([*found, *sysfs_net.interfaces(HERE), *sockets.addresses(HERE, sockets.live_addresses())])
