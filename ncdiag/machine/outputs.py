"""Outputs of programs in a recorded tree.

``commands/<name>.txt`` is named after an entry of ``collectors.toml`` or a section kind. In ``sos_commands/<plugin>/``
of an sos report, files are named after the command that printed them (sos/report/plugins/__init__.py, _mangle_command).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterator

import msgspec

from ncdiag.machine.command import table
from ncdiag.machine.tree import Tree
from ncdiag.parsers import discover
from ncdiag.text import SOS_COMMANDS


class Output(msgspec.Struct, frozen=True):
    """``path`` of the output in the tree, its section ``kind``, and the ``command`` that printed it.

    ``name`` is that of its entry in ``collectors.toml``, else empty.
    """

    path: str
    kind: str
    command: str | None
    name: str = ""


def outputs(tree: Tree, kinds: Container[str], seen: Container[str]) -> Iterator[Output]:
    """All outputs of the tree that have a parser; of an sos report those not replaced by files (``seen``)."""
    known = {command.name: command for command in table()}
    for file in tree.names("commands") or ():
        if not file.endswith(".txt"):
            continue
        name = file.removesuffix(".txt")
        command = known.get(name)
        kind = command.kind if command else name if name in kinds else "text"
        yield Output(f"commands/{file}", kind, command.line if command else None, name)
    found: dict[tuple[str, ...], Output] = {}
    for plugin in tree.names(SOS_COMMANDS) or ():
        for file in tree.names(f"{SOS_COMMANDS}/{plugin}") or ():
            output = of_sos(f"{SOS_COMMANDS}/{plugin}/{file}")
            if output and output.command and output.kind not in seen:
                # `dmesg` and `dmesg -T` are the same output: the one with more options is used
                what = tuple(word for word in output.command.split() if not word.startswith("-"))
                found[(output.kind, *what)] = output
    yield from found.values()


def of_sos(path: str) -> Output | None:
    """The output in a file of an sos report; None if no parser reads the output of that command."""
    file = path.rpartition("/")[2]
    words = file.split("_")
    for length in range(len(words), 0, -1):
        known = _mangled().get("_".join(words[:length]))
        if known:
            kind, command = known
            return Output(path, kind, " ".join([command, *words[length:]]))
    return None


@functools.cache
def _mangled() -> dict[str, tuple[str, str]]:
    """(kind, command) by the file name that sos gives to the output of the command."""
    found: dict[str, tuple[str, str]] = {}
    for parser in discover().values():
        for command in parser.commands:
            name = re.sub(r"[^\w\-./]+", "_", command).replace("/", ".").strip(" ._-")
            found.setdefault(name, (parser.kind, command))
    return found
