"""The table of collectors names every path that a reader asks for, so that a node without ncdiag keeps it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.json import encode

from ncdiag.agent.look import Record
from ncdiag.machine import host as machine
from ncdiag.machine import patterns, sysfs
from ncdiag.machine.recording import Recorded, ReplayedTree
from ncdiag.machine.tree import Tree

ROOTS = ("ib-initializing", "pod-without-rdma", "roce8")


class Asking(Tree):
    """A tree that notes what it is asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "n1")
        self.asked: set[tuple[str, str]] = set()

    def data(self, path: str) -> bytes | None:
        self.asked.add(("read", path))
        return super().data(path)

    def names(self, path: str) -> list[str] | None:
        self.asked.add(("list", path))
        return super().names(path)

    def exists(self, path: str) -> bool:
        self.asked.add(("look", path))
        return super().exists(path)

    def link(self, path: str) -> str | None:
        self.asked.add(("look", path))
        return super().link(path)


@pytest.mark.parametrize("root", ["/", *ROOTS])
def test_the_table_names_every_path_that_a_reader_asks_for(root: str, project: Path) -> None:
    tree = Asking(Path("/") if root == "/" else project / "fixtures" / "roots" / root)
    for read in sysfs.readers().values():
        for _ in read(tree) or ():
            pass
    listed = patterns.regex(patterns.listed())
    read_ones = patterns.regex(pattern for pattern in patterns.every() if not pattern.endswith("/"))

    def declared(how: str, path: str) -> bool:
        if how == "list":
            return listed.fullmatch(path) is not None
        entry = how == "look" and any(listed.fullmatch(part) for part in (path, path.rpartition("/")[0]))
        return entry or read_ones.fullmatch(path) is not None

    missing = {f"{how} {re.sub('[0-9]+', 'N', path)}" for how, path in tree.asked if not declared(how, path)}
    assert not missing, "add these to `reads` of collectors.toml"


@pytest.mark.parametrize("name", ROOTS)
def test_what_the_patterns_keep_tells_the_same(name: str, project: Path) -> None:
    root = project / "fixtures" / "roots" / name
    record = Record({"process": ["self"], "group": [""]}, str(root))
    record.take(patterns.every())
    kept = Recorded(
        host="n1", replies=False, files=record.files, folders=record.folders, links=record.links,
        present=record.present, refused=record.refused,
    )  # fmt: skip
    there, here = Tree(root, "n1"), ReplayedTree(kept, "x")
    for what, read in sysfs.readers().items():
        told = [encode(observation).replace(str(root).encode(), b"x:") for observation in read(there)]
        assert [encode(observation) for observation in read(here)] == told, what


def test_a_reader_that_comes_to_no_end_is_told(project: Path) -> None:
    kept = Recorded(host="n1", failures={"RDMA devices": "no answer in time"})
    tree = ReplayedTree(kept, "x")
    seen = machine._collected(tree, "x", ())
    assert "RDMA devices: no answer in time" in "\n".join(seen.not_seen())
    assert project.is_dir()
