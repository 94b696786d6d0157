"""The texts among the shared specimens, each diagnosed once for all tests of a worker that ask about it.

Tests that ask about the same texts carry the same mark, `THREADS` or `HEALTHY`: with ``--dist loadgroup`` one worker
runs them all.
"""

from __future__ import annotations

import functools
import json
import tarfile
from pathlib import Path

import pytest

from ncdiag.diagnose import Diagnosed, diagnosed
from ncdiag.text.sources.files import TextSource

THREADS = pytest.mark.xdist_group("shared threads")
"""For tests that ask about `threads` or `corpus`."""
HEALTHY = pytest.mark.xdist_group("shared healthy texts")
"""For tests that ask about `completed` or about what auditors wrote."""
AUDITS = ("network", "gpu")
EVERY = 5
"""Of the outputs of completed jobs, one in so many is read: they are long."""


def threads(shared: Path) -> list[Path]:
    """The support threads."""
    return sorted((shared / "cases").glob("*/*.txt"))


def corpus(shared: Path) -> list[Path]:
    """The outputs of tools and the logs, each a file of its kind's folder."""
    return sorted(path for path in (shared / "corpus").glob("*/*") if path.is_file())


def audited(shared: Path, state: str) -> list[Path]:
    """The inputs that auditors wrote and call ``healthy`` or ``faulty``."""
    folders = [shared / "audit" / audit for audit in AUDITS]
    inputs = {folder: json.loads((folder / "index.json").read_text(encoding="utf-8"))["inputs"] for folder in folders}
    return [folder / entry["file"] for folder in folders for entry in inputs[folder] if entry["state"] == state]


@functools.cache
def answer(path: Path) -> Diagnosed:
    """What ncdiag says of a file, which it knows by its name without the folder."""
    return diagnosed([TextSource.of_bytes(path.name, path.read_bytes())])


@functools.cache
def completed(shared: Path) -> dict[str, Diagnosed]:
    """What ncdiag says of a fifth of the outputs of jobs that completed, by name."""
    with tarfile.open(shared / "wild" / "jobs.tar.xz") as archive:
        readers = {Path(each.name).name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        data = {name: reader.read() for name, reader in readers.items() if reader is not None}
    names = [Path(each["file"]).name for each in json.loads(data["jobs.json"])["files"] if "completed" in each["state"]]
    return {name: diagnosed([TextSource.of_bytes(name, data[name])]) for name in names[::EVERY]}
