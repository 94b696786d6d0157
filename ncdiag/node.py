"""A node as ``check`` judges it, ``collect`` packs it and a bundle brings it back: one look, one set of facts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ncdiag import __version__
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl import library
from ncdiag.parsers._shell import hide_secrets
from ncdiag.read import Piece, Reading, read_sections, read_source
from ncdiag.sources import bundle
from ncdiag.sources.bundle import Bundle, LibraryLog
from ncdiag.sources.files import TextSource
from ncdiag.sources.live import Collection, NotSeen, collect, host_name, readable
from ncdiag.sources.recording import RecordingTree, ReplayedTree
from ncdiag.sources.tree import Tree
from ncdiag.spans import span

LIBRARY_LIMIT = 15.0
"""Seconds for the question to the NCCL library; it is asked while everything else is read."""

DELTA_SECONDS = 2.0
"""Seconds between two samples of the counters."""

LOG_LINES = 1000
"""Lines of the library's words that are kept; it says fewer than 20."""

LIBRARY = "the NCCL library"
_VERSION_IN_NAME = ".so."


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a node: ``name`` says where (``this host``, a folder, an archive)."""

    name: str
    seen: Collection
    libraries: tuple[LibraryLog, ...] = ()
    found: tuple[str, ...] = ()

    def readings(self, *, alone: bool = True) -> list[Reading]:
        """The outputs and the library's own words, parsed.

        ``alone`` False: judged beside other hosts or logs, whose ranks may have loaded another library; then its
        version is what this host has, not what a rank of the job runs.
        """
        asked = (_reading(item, self.seen.host, alone=alone) for item in self.libraries)
        return [*read_sections(self.seen.sections), *asked]

    def observations(self) -> list[Observation]:
        """What needs no parser."""
        return [*self.seen.observations, *(_library(path, self.seen.host) for path in self.found)]

    def not_seen(self) -> list[str]:
        """A phrase for everything that was not seen: what, why, and the command that would tell."""
        problems = [NotSeen(LIBRARY, f"{item.path}: {item.problem}") for item in self.libraries if item.problem]
        if not self.libraries and any("/libnccl.so" in path for path in self.found):
            problems.append(NotSeen(LIBRARY, "it was not asked what it picks"))
        items = [*self.seen.not_seen, *problems]
        return [f"{item.what}: {item.why}" + (f" ({item.ask})" if item.ask else "") for item in items]


def look(root: Path = Path("/"), *, ask_library: bool = True, pid: int | None = None, deltas: float = 0.0) -> Node:
    """Look at this machine or at a recorded tree.

    ``pid`` names a process whose environment and limits count instead of ours, ``deltas`` the seconds between two
    samples of the counters (0: one sample). Raises InputError when ``root`` or that process cannot be read.
    """
    readable(root)
    tree = Tree(root, host_name(root))
    return _look(tree, "this host" if tree.live else str(root), ask_library=ask_library, pid=pid, deltas=deltas)


def pack(root: Path = Path("/"), *, ask_library: bool = True, pid: int | None = None, deltas: float = 0.0) -> Bundle:
    """Look as `look` does and keep what was read."""
    readable(root)
    tree, started = RecordingTree(root, host_name(root)), time.time()
    node = _look(tree, "", ask_library=ask_library, pid=pid, deltas=deltas)
    manifest = bundle.Manifest(
        format=bundle.FORMAT, ncdiag=__version__, started=started, seconds=round(time.time() - started, 3),
        libraries=list(node.libraries), not_seen=node.not_seen(), host=node.seen.host,
    )  # fmt: skip
    return Bundle(manifest=manifest, recorded=tree.recorded)


def unpack(path: str | Path) -> Node:
    """The node of a bundle. Raises InputError."""
    packed = bundle.read(path)
    tree = ReplayedTree(packed.recorded, str(path))
    return _collected(tree, str(path), tuple(packed.manifest.libraries))


def _look(tree: Tree, name: str, *, ask_library: bool, pid: int | None, deltas: float) -> Node:
    answers: list[LibraryLog] = []
    cancel = threading.Event()
    asking = threading.Thread(target=lambda: answers.extend(_asked(cancel)), daemon=True)
    wanted = ask_library and tree.live
    if wanted:
        asking.start()
    try:
        node = _collected(tree, name, (), pid=pid, deltas=deltas)
        if wanted:
            asking.join(LIBRARY_LIMIT + 1)
    finally:
        cancel.set()
    return msgspec.structs.replace(node, libraries=tuple(answers))


def _collected(
    tree: Tree, name: str, libraries: tuple[LibraryLog, ...], *, pid: int | None = None, deltas: float = 0.0
) -> Node:  # fmt: skip
    found = tree.ask("NCCL libraries", _found) or []
    seen = collect(tree=tree, pid=pid, deltas=deltas)
    if tree.replies and not found:
        nothing = NotSeen(LIBRARY, "no libnccl.so in LD_LIBRARY_PATH, Python's package folders or those of ldconfig")
        seen = msgspec.structs.replace(seen, not_seen=[*seen.not_seen, nothing])
    plugins = tree.ask("NCCL plugins", lambda: [str(path) for path in library.find_plugins()]) or []
    return Node(name=name, seen=seen, libraries=libraries, found=(*found, *plugins))


def _found() -> list[str]:
    return [str(path.resolve()) for path in library.find_libraries()]


def _asked(cancel: threading.Event) -> Iterator[LibraryLog]:
    """What the library that a program here would load first says under the environment at hand."""
    paths = library.find_libraries()
    for path in paths[:1]:
        answer = library.ask(path, _settings(os.environ), LIBRARY_LIMIT, cancel=cancel)
        version = str(answer.version) if answer.version else None
        log = "".join(hide_secrets(line) for line in answer.log.splitlines(keepends=True)[:LOG_LINES])
        yield LibraryLog(path=str(path.resolve()), version=version, problem=answer.problem, log=log)


def _settings(environ: Mapping[str, str]) -> dict[str, str]:
    """NCCL's variables but those that send its words elsewhere."""
    return {n: v for n, v in environ.items() if n.startswith("NCCL_") and not n.startswith("NCCL_DEBUG")}


def _reading(answer: LibraryLog, host: str, *, alone: bool) -> Reading:
    """The log of the library, with the version that it told."""
    name = f"NCCL {answer.version or 'library'} ({answer.path})"
    read = read_source(TextSource.of_bytes(name, answer.log.encode()))
    found = [msgspec.structs.replace(o, host=host) for o in read.observations if o.host is not None]
    version = VersionRange.exact(answer.version) if answer.version else None
    if version is not None:
        where = span(name, 0, f"ncclGetVersion: {answer.version}")
        ranks = dict.fromkeys(o.key for o in found if o.entity == "Rank")
        keys = [("Rank", key) for key in ranks] if alone else [("Host", ())]
        told = {"version": version}
        found.append(Observation(entity="Library", key=(answer.path,), host=host, span=where, fields=told))
        found += [
            Observation(entity=entity, key=key, host=host, span=where, fields={"nccl_version": version})
            for entity, key in keys
        ]
    pieces = (Piece("nccl_library", 1, max(1, read.lines), host),)
    picked = (o.fields["bootstrap_interface"]["name"] for o in found if "bootstrap_interface" in o.fields)
    notes = tuple(f"picks {name} here" for name in picked)
    return msgspec.structs.replace(read, pieces=pieces, notes=(*notes, *read.notes), observations=tuple(found))


def _library(path: str, host: str) -> Observation:
    """A library that was found, with the version that its name tells (``libnccl.so.2.27.7``)."""
    text = path.rpartition(_VERSION_IN_NAME)[2] if _VERSION_IN_NAME in path else ""
    version = VersionRange.exact(text) if text.count(".") > 1 else None
    fields = {"version": version} if version else {}
    return Observation(entity="Library", key=(path,), host=host, span=span(path, 0, path), fields=fields)
