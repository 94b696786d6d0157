"""The whole program inside a network namespace, which the fixture ``namespace`` of tests/nccl makes."""

from __future__ import annotations

import os
import subprocess
from typing import Protocol

Wire = tuple[str, str, str, tuple[str, ...]]
"""Name, kind, state and addresses of an interface."""


class Space(Protocol):
    """What the fixture makes: see tests/nccl/conftest.py."""

    name: str
    inside: tuple[str, ...]

    def build(self, *interfaces: Wire) -> None: ...


def ran(
    space: Space, program: list[str], *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The program inside a namespace, on a host of the namespace's name."""
    named = ("unshare", "-u", "sh", "-c", f'hostname {space.name} && exec "$@"', "sh")
    return subprocess.run(
        [*space.inside, *named, *program, *words], capture_output=True, text=True, check=False,
        env={**os.environ, "LD_LIBRARY_PATH": "", **(env or {})},
    )  # fmt: skip
