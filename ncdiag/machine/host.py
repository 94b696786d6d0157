"""A node as ``check`` judges it, ``collect`` packs it and a bundle restores it: one inspection, one set of facts."""

from __future__ import annotations

import io
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from ncdiag.agent.libraries import versions as read_versions
from ncdiag.base.errors import InputError
from ncdiag.base.spans import span
from ncdiag.base.version import __version__
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.formats.shell import hide_secrets
from ncdiag.machine import bundle, printed, sysfs_system, trees
from ncdiag.machine.bundle import Bundle, LibraryLog
from ncdiag.machine.live import Collection, NotSeen, collect, environment, host_name, readable
from ncdiag.machine.recording import RecordingTree, ReplayedTree
from ncdiag.machine.tree import Tree
from ncdiag.nccl import library
from ncdiag.text import (
    Elsewhere,
    Packed,
    Piece,
    Reading,
    Source,
    TextSource,
    Unreadable,
    is_sos,
    open_sources,
    partial,
    read_sections,
)

LIBRARY_LIMIT = 15.0
"""Seconds for running the NCCL library; it runs while everything else is read."""

DELTA_SECONDS = 2.0
"""Seconds between two samples of the counters."""

LOG_LINES = 1000
"""Maximum number of lines of the library's output that are kept; it prints fewer than 20."""

LIBRARY = "the NCCL library"
_VERSION_IN_NAME = ".so."
_OURS = "NCCL_DEBUG"
"""Prefix of the variables that are set to make the library print its log."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The result of inspecting a node: ``name`` is its source (``this host``, a folder, an archive).

    ``examined`` is what the processes of a running job on it do, where that was asked.
    ``called`` is its own name if its facts have another one (`apart`), ``place`` the file that contains it.
    """

    name: str
    seen: Collection
    libraries: tuple[LibraryLog, ...] = ()
    found: tuple[str, ...] = ()
    versions: Mapping[str, str] = {}
    examined: tuple[Reading, ...] = ()
    called: str = ""
    place: str = ""

    @property
    def host(self) -> str:
        """The name under which its facts are stored."""
        return self.seen.host

    @property
    def is_silent(self) -> bool:
        """True if the node did not answer; an inspected node always did."""
        return False

    def renamed(self, name: str) -> Machine:
        """The same machine with its facts under another name."""
        seen = msgspec.structs.replace(
            self.seen,
            host=name,
            observations=[msgspec.structs.replace(found, host=name) for found in self.seen.observations],
            sections=[msgspec.structs.replace(section, host=name) for section in self.seen.sections],
        )
        return msgspec.structs.replace(self, seen=seen, called=self.called or self.seen.host)

    def readings(self, *, alone: bool = True) -> list[Reading]:
        """The parsed outputs of its programs and of the library.

        ``alone`` False: it is judged with other hosts or logs, whose ranks may have loaded another library; then the
        version of its library is what this host has installed, not what a rank of the job runs.
        """
        asked = (_reading(item, self.seen.host, alone=alone) for item in self.libraries)
        return [*read_sections(self.seen.sections), *asked, *self.examined]

    def observations(self) -> list[Observation]:
        """Observations that do not come from text."""
        found = (_library(path, self.seen.host, self.versions.get(path)) for path in self.found)
        looked = Observation(
            entity="Host", key=(), host=self.seen.host, span=span(self.place, 0, self.called or self.seen.host),
            fields={"looked_at": True, "called": self.called or self.seen.host},
        )  # fmt: skip
        return [*self.seen.observations, *found, looked]

    def not_seen(self) -> list[str]:
        """A phrase for each thing that could not be observed: what, why, and the command that would provide it."""
        problems = [NotSeen(LIBRARY, f"{item.path}: {item.problem}") for item in self.libraries if item.problem]
        if not self.libraries and any("/libnccl.so" in path for path in self.found):
            problems.append(NotSeen(LIBRARY, "it was not asked which interface it picks", "--ask-nccl"))
        items = [*self.seen.not_seen, *problems]
        return [f"{item.what}: {item.why}" + (f" ({item.ask})" if item.ask else "") for item in items]


def look(
    root: Path = Path("/"), *, ask_library: bool | None = None, pid: int | None = None, deltas: float = 0.0
) -> Machine:  # fmt: skip
    """Inspect this machine or a recorded tree.

    ``ask_library``: let the NCCL library choose its interface. None: only without ``pid``, because the process belongs
    to a job that should not be disturbed, and the library has 500 MB. ``pid`` names a process whose environment, limits
    and libraries are read instead of those of this process, ``deltas`` is the time in seconds between two samples of
    the counters (0: one sample). Raises InputError if ``root`` or that process cannot be read.
    """
    readable(root)
    if is_sos(str(root)):
        (node,) = of_packed(Packed(str(root), "sos"))
        return node
    tree = Tree(root, host_name(root))
    return _look(tree, "this host" if tree.live else str(root), ask_library=ask_library, pid=pid, deltas=deltas)


Seen = Machine | Elsewhere


def apart(machines: Iterable[Seen]) -> list[Seen]:
    """The machines with unique names: if several have the same name, the later ones get a number (``n1#2``)."""
    met: Counter[str] = Counter()
    found = []
    for machine in machines:
        own = machine.host
        met[own] += 1
        found.append(machine if met[own] == 1 else machine.renamed(f"{own}#{met[own]}"))
    return found


def machines_in(path: str | Path) -> list[Seen]:
    """The machine of a bundle, an sos report or a recorded tree, or those of partial readings; ``-``: standard input.

    Raises InputError, also if the partial readings contain texts.
    """
    sources = open_sources([str(path)])  # an open source holds the file open
    return _machines(path, next(sources, None))


def machines_of(data: bytes, name: str) -> list[Seen]:
    """Like `machines_in`, for the content of such a file. Raises InputError."""
    sources = open_sources(["-"], stdin=io.BytesIO(data))
    return _machines(name, next(sources, None))


def _machines(path: str | Path, source: Source | None) -> list[Seen]:
    if not isinstance(source, Packed) or source.form != "partial":
        return [_only(path, source)]
    parts = list(partial.of_members(source.members or (), source.name))
    found = [part for part in parts if isinstance(part, Elsewhere)]
    if len(found) < len(parts) or not found:
        other = next((part for part in parts if isinstance(part, Unreadable)), None)
        why = f"{other.name}: {other.reason}" if other else "it contains logs, not a host; use `ncdiag parse`"
        msg = f"cannot read {path}: {why if parts else 'it does not contain a host'}"
        raise InputError(msg)
    return [*found]


def pack(
    root: Path = Path("/"), *, ask_library: bool | None = None, pid: int | None = None, deltas: float = 0.0
) -> Bundle:  # fmt: skip
    """Inspect a machine as `look` does, and return everything that was read as a bundle."""
    readable(root)
    if is_sos(str(root)):
        return bundles_of(Packed(str(root), "sos"))[0]
    tree, started = RecordingTree(root, host_name(root)), time.time()
    seen = _look(tree, "", ask_library=ask_library, pid=pid, deltas=deltas)
    manifest = bundle.Manifest(
        format=bundle.FORMAT, ncdiag=__version__, started=started, seconds=round(time.time() - started, 3),
        libraries=list(seen.libraries), not_seen=seen.not_seen(), host=seen.seen.host,
    )  # fmt: skip
    return Bundle(manifest=manifest, recorded=tree.recorded)


def unpack(path: str | Path) -> Machine:
    """The machine of a bundle, an sos report or a recorded tree; ``-`` is standard input. Raises InputError."""
    sources = open_sources([str(path)])  # an open source holds the file open
    return _only(path, next(sources, None))


def _only(path: str | Path, source: Source | None) -> Machine:
    nodes = of_packed(source) if isinstance(source, Packed) else []
    if len(nodes) != 1:
        why = (
            f"it contains {len(nodes)} hosts; use `ncdiag triage`"
            if nodes
            else ("it does not contain the files of a host")
        )
        msg = f"cannot read {path}: {why}"
        raise InputError(msg)
    return nodes[0]


def of_packed(source: Packed) -> list[Machine]:
    """The nodes of an archive, a folder or a printed recording (which may contain several). Raises InputError."""
    name = source.name
    if source.form == "tree" and source.members is None:
        return [look(Path(name))]
    return [
        _collected(ReplayedTree(packed.recorded, name), name, tuple(packed.manifest.libraries))
        for packed in bundles_of(source)
    ]


def bundles_of(source: Packed) -> list[Bundle]:
    """The machine in any form as a bundle, or several. Raises InputError."""
    name = source.name
    if source.form == "bundle":
        return [bundle.of_members(source.members or (), name)]
    if source.form == "tree" and source.members is None:
        return [pack(Path(name))]
    members = trees.members_below(Path(name)) if source.members is None else source.members
    if source.form == "script":
        machines = printed.recorded(members, name)
    else:
        machines = [trees.recorded(members, source.form, Path(name).name.split(".", 1)[0])]
    return [
        Bundle(
            manifest=bundle.Manifest(
                format=bundle.FORMAT, ncdiag=__version__, host=machine.host, started=time.time(), seconds=0
            ),
            recorded=machine,
        )
        for machine in machines
    ]


def _look(tree: Tree, name: str, *, ask_library: bool | None, pid: int | None, deltas: float) -> Machine:
    answers: list[LibraryLog] = []
    cancel = threading.Event()
    asking = threading.Thread(target=lambda: answers.extend(_asked(pid, cancel)), daemon=True)
    wanted = (pid is None if ask_library is None else ask_library) and tree.live
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
) -> Machine:  # fmt: skip
    found = tree.ask("NCCL libraries", _found) or []
    seen = collect(tree=tree, pid=pid, deltas=deltas)
    loaded = [str(o.key[0]) for o in seen.observations if o.entity == "Library"]
    if tree.replies and not found and not loaded:
        nothing = NotSeen(LIBRARY, "no libnccl.so in LD_LIBRARY_PATH, Python's package folders or those of ldconfig")
        seen = msgspec.structs.replace(seen, not_seen=[*seen.not_seen, nothing])
    plugins = tree.ask("NCCL plugins", lambda: [str(path) for path in library.find_plugins()]) or []
    paths = list(dict.fromkeys([*loaded, *found]))
    versions = tree.ask("versions of NCCL libraries", lambda: read_versions(paths)) or {}
    return Machine(
        name=name, seen=seen, libraries=libraries, found=(*paths, *plugins), versions=versions,
        place=tree.place("etc/hostname"),
    )  # fmt: skip


def _found() -> list[str]:
    return [str(path.resolve()) for path in library.find_libraries()]


def _asked(pid: int | None, cancel: threading.Event) -> Iterator[LibraryLog]:
    """The log of the NCCL library that a program on this host would load first, under the current environment.

    With ``pid``: of the library that the process has loaded, under the environment of the process.
    """
    loaded: list[Path] = []
    environ: Mapping[str, str] = os.environ
    if pid is not None:
        tree = Tree(Path("/"), "")
        tree.ask("process", lambda: pid)
        loaded = [Path(str(o.key[0])) for o in sysfs_system.loaded(tree)]
        try:
            environ = environment(pid)
        except InputError:  # the inspection of the process reports it
            return
    for path in [*loaded, *library.find_libraries()][:1]:
        answer = library.ask(path, _settings(environ), LIBRARY_LIMIT, cancel=cancel)
        version = str(answer.version) if answer.version else None
        log = "".join(hide_secrets(line) for line in answer.log.splitlines(keepends=True)[:LOG_LINES])
        yield LibraryLog(path=str(path.resolve()), version=version, problem=answer.problem, log=log)


def _settings(environ: Mapping[str, str]) -> dict[str, str]:
    """NCCL's variables except those that redirect its log, and the variables for finding its configuration file."""
    mine = {n: v for n, v in environ.items() if n.startswith("NCCL_") and not n.startswith(_OURS)}
    return mine | {name: environ[name] for name in ("HOME",) if name in environ}


def _reading(answer: LibraryLog, host: str, *, alone: bool) -> Reading:
    """The parsed log of the library, with its version."""
    from ncdiag.text import read_source  # not needed if no library was run

    name = f"NCCL {answer.version or 'library'} ({answer.path})"
    read = read_source(TextSource.of_bytes(name, answer.log.encode()))
    found = [_of_host(o, host) for o in read.observations if o.host is not None or o.entity == "Host"]
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


def _of_host(observation: Observation, host: str) -> Observation:
    """The observation with this host; without the variables that were set to make the library print its log."""
    fields = dict(observation.fields)
    if "nccl_parameters" in fields:
        fields["nccl_parameters"] = [p for p in fields["nccl_parameters"] if not p["name"].startswith(_OURS)]
    return msgspec.structs.replace(observation, host=host, fields=fields)


def _library(path: str, host: str, says: str | None) -> Observation:
    """A library that was found, with the version that it reports or that its file name has (``libnccl.so.2.27.7``)."""
    text = says or (path.rpartition(_VERSION_IN_NAME)[2] if _VERSION_IN_NAME in path else "")
    version = VersionRange.exact(text) if text.count(".") > 1 else None
    fields = {"version": version} if version else {}
    return Observation(entity="Library", key=(path,), host=host, span=span(path, 0, path), fields=fields)
