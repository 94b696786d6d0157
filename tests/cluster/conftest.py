"""Hosts with sshd for the tests that ask many: six, or as many as NCDIAG_HOSTS says (``make lab``: 100)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hosts import Hosts, hosts, missing

COUNT = int(os.environ.get("NCDIAG_HOSTS") or 6)


@pytest.fixture(scope="session")
def fleet(need: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """The hosts, all of them well."""
    why = missing()
    need("sshd", not why, why)
    with hosts(tmp_path_factory.mktemp("fleet"), COUNT) as made:
        yield made


Sweep = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def sweep(fleet: Hosts, program: list[str], tmp_path: Path) -> Sweep:
    """``sweep("check", "--nodes", "n[1-3]")`` runs on the head and goes over ssh unless told otherwise."""

    def run(command: str, *words: str | Path, via: str = "ssh", **more: str) -> subprocess.CompletedProcess[bytes]:
        options = ["--via", via, *(["--ssh-options", fleet.ssh] if via == "ssh" else [])]
        line = [*fleet.head, *program, command, *map(str, words), *options]
        return subprocess.run(
            line, capture_output=True, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path, env={**os.environ, **more}
        )

    return run
