"""Bundles: everything that the inspection of a machine read, in one archive that can be judged anywhere.

A ``.tar.gz`` with one folder: ``manifest.json`` first, then ``tree/<path>`` (files as they were read),
``commands/<name>.txt`` (outputs of programs) and ``nccl/<n>.log`` (output of the NCCL library). The manifest holds the
format version, times, versions, failures, and what does not fit in files. A bundle is untrusted: it is read in memory,
with limits, and nothing is unpacked to disk.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.agent import pack
from ncdiag.agent.place import place
from ncdiag.base.errors import InputError, OutputError
from ncdiag.facts.model.declared import observed
from ncdiag.facts.observe import Observation
from ncdiag.machine.command import CommandResult, clean_lines
from ncdiag.machine.recording import Recorded, Replies
from ncdiag.text import Packed, archives, open_sources

FORMAT = 1
"""Version of the format; it rises when an older reader would misunderstand a bundle."""

OLDEST = 1
"""The oldest format that can be read."""

SIZE_LIMIT = 256 << 20
"""Maximum size in bytes of a bundle, unpacked."""

MEMBER_LIMIT = 200_000
"""Maximum number of files in a bundle; a node with eight ports of 256 GIDs each has about 10,000."""


class Program(msgspec.Struct, frozen=True):
    """How a program ended; its output is a file of the bundle."""

    status: int | None = None
    reason: str | None = None


class LibraryLog(msgspec.Struct, frozen=True, kw_only=True):
    """An NCCL library that was run: its ``version`` as numbers, and its ``log``, which is a file of the bundle."""

    path: str
    version: str | None = None
    problem: str | None = None
    log: str = ""


class Manifest(Replies, kw_only=True):
    """``manifest.json``: the answers of the machine, and data about the collector itself."""

    format: int
    ncdiag: str
    started: float
    seconds: float
    programs: dict[str, Program] = msgspec.field(default_factory=dict)
    libraries: list[LibraryLog] = msgspec.field(default_factory=list)
    not_seen: list[str] = msgspec.field(default_factory=list)


class Address(msgspec.Struct, frozen=True, omit_defaults=True):
    """An address as listed by `ncdiag.machine.sockets`."""

    ip: str
    prefix_len: int | None = None
    peer: str | None = None


_ANSWERS: dict[str, Any] = {
    "addresses": dict[str, list[Address]] | None,
    "default gateways": list[tuple[str, str, str]] | None,
    "list of GPUs": tuple[list[Observation], str | None] | None,
    "size of /dev/shm": dict[str, int] | None,
    "environment": dict[str, str] | None,
    "second sample of counters": list[dict[str, float]] | None,
    "NCCL libraries": list[str] | None,
    "NCCL plugins": list[str] | None,
    "versions of NCCL libraries": dict[str, str] | None,
    "process": int | None,
    "user id": int | None,
    "clock status": int | None,
    "time": float | None,
}
"""The questions of `ncdiag.machine.tree.Tree.ask`, with the types of their answers."""


class Bundle(msgspec.Struct, kw_only=True):
    """A bundle in memory: its manifest, what the machine answered, and the failures of the collector itself."""

    manifest: Manifest
    recorded: Recorded


def write(bundle: Bundle, path: Path) -> None:
    """Write a bundle atomically, readable only by its owner; ``-`` is standard output.

    Raises OutputError, or BrokenPipeError if the reader has closed the pipe.
    """
    try:
        if str(path) == "-":
            with io.BufferedWriter(io.FileIO(1, "w", closefd=False)) as stdout:
                stdout.write(_packed(bundle))
        else:
            place([_packed(bundle)], str(path))
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise OutputError(msg) from error


def _packed(bundle: Bundle) -> bytes:
    recorded = bundle.recorded
    manifest = msgspec.structs.replace(
        bundle.manifest, host=recorded.host, replies=recorded.replies, folders=recorded.folders, links=recorded.links,
        present=sorted(set(recorded.present)), refused=recorded.refused, failures=recorded.failures,
        answers=recorded.answers,
        programs={name: Program(result.status, result.reason) for name, result in recorded.outputs.items()},
        libraries=[msgspec.structs.replace(library, log="") for library in bundle.manifest.libraries],
    )  # fmt: skip
    logs = {f"nccl/{number}.log": library.log for number, library in enumerate(bundle.manifest.libraries)}
    outputs = {
        f"commands/{name}.txt": "".join(f"{line}\n" for line in r.output) for name, r in recorded.outputs.items()
    }
    members = {"manifest.json": msgspec.json.format(msgspec.json.encode(manifest), indent=1)}
    members |= {f"tree/{path}": data for path, data in recorded.files.items()}
    members |= {name: text.encode("utf-8", "replace") for name, text in {**outputs, **logs}.items()}
    return pack.packed(members.items(), manifest.started)


def of_members(members: Iterable[archives.Member], name: str) -> Bundle:
    """The bundle in an archive.

    Raises InputError if the archive is not a bundle, is damaged or has an unknown format.
    """
    held: dict[str, bytes] = {}
    size = 0
    try:
        for number, member in enumerate(members):
            if member.reader is None:
                raise _refused(name, member.reason)
            data = _content(member.reader, SIZE_LIMIT - size)
            if data is None or number >= MEMBER_LIMIT:
                raise _refused(name, f"the bundle has more than {SIZE_LIMIT >> 20} MiB or {MEMBER_LIMIT} files")
            size += len(data)
            held[member.name.removeprefix(f"{pack.FOLDER}/")] = data
    except archives.BROKEN as error:
        raise _refused(name, archives.reason_of(error)) from None
    return _unpacked(held, name)


def read(path: str | Path) -> Bundle:
    """Read a bundle; ``-`` is standard input. Raises InputError."""
    sources = open_sources([str(path)])  # an open source holds the file open
    source = next(sources, None)
    if not isinstance(source, Packed) or source.form != "bundle" or source.members is None:
        raise _refused(path, "it was not written by `ncdiag collect`")
    return of_members(source.members, str(path))


def _content(reader: archives.Reader, left: int) -> bytes | None:
    """The whole content; None if it is more than ``left`` bytes."""
    parts = []
    while part := reader.read(1 << 20):
        left -= len(part)
        if left < 0:
            return None
        parts.append(part)
    return b"".join(parts)


def _unpacked(members: dict[str, bytes], path: str | Path) -> Bundle:
    text = members.get("manifest.json")
    if text is None:
        raise _refused(path, "it was not written by `ncdiag collect`: manifest.json is missing")
    try:
        version = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if not isinstance(version, int) or not OLDEST <= version <= FORMAT:
            newer = isinstance(version, int) and version > FORMAT
            hint = "use a newer ncdiag" if newer else "collect it again with `ncdiag collect`"
            raise _refused(path, f"the bundle has format {version}, but this ncdiag reads format {FORMAT}; {hint}")
        manifest = msgspec.json.decode(text, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _refused(path, f"its manifest.json is damaged: {error}") from None
    files = {name.removeprefix("tree/"): data for name, data in members.items() if name.startswith("tree/")}
    outputs = {
        name: CommandResult(clean_lines(members.get(f"commands/{name}.txt", b"")), program.status, program.reason)
        for name, program in manifest.programs.items()
    }
    manifest.libraries = [
        msgspec.structs.replace(library, log=members.get(f"nccl/{number}.log", b"").decode("utf-8", "replace"))
        for number, library in enumerate(manifest.libraries)
    ]
    answers = _checked(manifest.answers, path)
    if manifest.replies:
        answers.setdefault("time", manifest.started)
    recorded = Recorded(
        host=manifest.host, replies=manifest.replies, files=files, folders=manifest.folders, links=manifest.links,
        present=manifest.present, refused=manifest.refused, failures=manifest.failures,
        answers=answers, outputs=outputs,
    )  # fmt: skip
    return Bundle(manifest=manifest, recorded=recorded)


def _checked(answers: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """The answers to known questions, if they have the right types."""
    checked = {}
    for name, value in answers.items():
        if name in _ANSWERS:
            try:
                checked[name] = msgspec.to_builtins(msgspec.convert(value, _ANSWERS[name]))
            except msgspec.ValidationError as error:
                raise _refused(path, f"its manifest.json is damaged, at {name!r}: {error}") from None
    gpus: Any = checked.get("list of GPUs") or ([], None)
    if any(observation["entity"] not in {"Gpu", "TopoLink", "Host"} for observation in gpus[0]):
        raise _refused(path, "its manifest.json is damaged, at 'list of GPUs'")
    for observation in gpus[0]:  # a newer ncdiag may have more fields
        known = observed()[observation["entity"]].fields
        observation["fields"] = {name: value for name, value in observation["fields"].items() if name in known}
    return checked


def _refused(path: str | Path, why: str) -> InputError:
    return InputError(f"cannot read {path}: {why}")
