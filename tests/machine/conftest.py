"""What the tests of looking at a machine share.

Trees of files made here or recorded in fixtures/roots, the host they show, and what looks at a node without ncdiag.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from processes import left_running, running

from ncdiag.facts.model import Host
from ncdiag.facts.observe import Observation
from ncdiag.machine import remote, sysfs
from ncdiag.machine.command import table
from ncdiag.machine.live import collect
from ncdiag.machine.tree import Tree
from ncdiag.text.reading.job import job_of


def _host_of(observations: list[Observation]) -> Host:
    job = job_of([], observations)
    assert job.conflicts == ()
    [host] = job.hosts
    return host


def _write(root: Path, files: Mapping[str, str | bytes]) -> Tree:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tree(root, "n1")


def _every(tree: Tree) -> Iterator[Observation]:
    for read in sysfs.readers().values():
        yield from read(tree)


@pytest.fixture(scope="session")
def host_of() -> Callable[[list[Observation]], Host]:
    """The one host that observations describe; they must not disagree."""
    return _host_of


@pytest.fixture(scope="session")
def write() -> Callable[[Path, Mapping[str, str | bytes]], Tree]:
    """``write(root, files)``: the files below the folder, as a tree of host n1."""
    return _write


@pytest.fixture(scope="session")
def every() -> Callable[[Tree], Iterator[Observation]]:
    """What all readers of files say of a tree."""
    return _every


@pytest.fixture(scope="session")
def recorded(project: Path) -> Callable[[str], Host]:
    """The host of a recorded tree."""
    return lambda name: _host_of(collect(project / "fixtures" / "roots" / name).observations)


@pytest.fixture(scope="session")
def roce(recorded: Callable[[str], Host]) -> Host:
    """Eight RoCE rails."""
    return recorded("roce8")


@pytest.fixture(scope="session")
def infiniband(recorded: Callable[[str], Host]) -> Host:
    """Two InfiniBand ports, one without a subnet manager."""
    return recorded("ib-initializing")


@pytest.fixture(scope="session")
def pod(recorded: Callable[[str], Host]) -> Host:
    """A container without RDMA."""
    return recorded("pod-without-rdma")


@pytest.fixture(scope="session")
def program_text() -> str:
    """The program of plain Python that looks at a node."""
    return remote.python_program()


@pytest.fixture(scope="session")
def script_text() -> str:
    """The shell script that looks at a node."""
    return remote.shell_script()


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[int]]]:
    """Every program of the table hangs, deaf to signals, with a child; the value tells which of them are still there.

    All have a mark in their environment.
    """
    folder, mark = tmp_path / "bin", uuid.uuid4().hex
    folder.mkdir()
    for name in {command.argv[0] for command in table()} - {"sh"}:
        (folder / name).write_text("#!/bin/sh\ntrap '' TERM INT HUP\necho begun\nsleep 600 & wait\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("NCDIAG_TEST_MARK", mark)
    yield lambda: left_running(mark)
    for pid in running(mark):  # a shell without `timeout` leaves the children of a stopped program
        os.kill(pid, 9)
