"""Files with the same format as the output of a command: they are read by the parser of that output."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation
from ncdiag.machine.command import clean_lines
from ncdiag.machine.tree import Tree
from ncdiag.parsers import discover


def bonding(tree: Tree) -> Iterator[Observation]:
    """Mode, members and links of bonds."""
    yield from _parsed(tree, "bonding", "proc/net/bonding/*")


def hccn_conf(tree: Tree) -> Iterator[Observation]:
    """Addresses of Ascend NPUs, as stored by hccn_tool."""
    yield from _parsed(tree, "hccn_conf", "etc/hccn.conf")


def _parsed(tree: Tree, kind: str, pattern: str) -> Iterator[Observation]:
    """The observations of the parser of that kind for the files."""
    parser = discover().get(kind)
    for path in tree.matches(pattern) if parser else ():
        data = tree.data(path)
        if parser and data is not None:
            section = Section(
                kind=kind, source=tree.place(path), first_line=1, lines=clean_lines(data), host=tree.host,
                command=f"cat /{path}",
            )  # fmt: skip
            yield from parser.parse(section).observations
