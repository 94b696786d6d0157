"""The declared commands of ``collectors.toml``, and how one is run (`ncdiag.agent.run`)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ncdiag.agent import run
from ncdiag.base import compiled
from ncdiag.text import TextSource

TABLE = Path(__file__).with_name("collectors.toml")


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of ``collectors.toml``, which describes the fields."""

    name: str
    argv: tuple[str, ...]
    kind: str
    why: str
    limit: float
    unless: str = ""
    needs: tuple[str, ...] = ()
    absent: str = ""
    instead_of: str = ""
    root: bool = False
    accept: tuple[int, ...] = (0,)

    @property
    def line(self) -> str:
        """The command line, as typed in a shell."""
        return " ".join(f"'{word}'" if " " in word else word for word in self.argv)


class CommandResult(msgspec.Struct, frozen=True):
    """``output`` (clean lines of standard output only), exit ``status`` and, after an error, the ``reason``.

    ``status`` is None for a program that did not run or was killed.
    """

    output: tuple[str, ...] = ()
    status: int | None = None
    reason: str | None = None


class FileReader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ``[[reader]]`` of ``collectors.toml``."""

    what: str
    why: str
    files: tuple[str, ...]
    read: str
    reads: tuple[str, ...] = ()
    root: bool = False


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """An ``[[asked]]`` of ``collectors.toml``."""

    what: str
    why: str
    source: str
    limit: float
    root: bool = False


class Collectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``collectors.toml``."""

    reader: tuple[FileReader, ...]
    asked: tuple[Asked, ...]
    command: tuple[Command, ...]


def build() -> Collectors:
    """Read the table from TOML."""
    from ncdiag.base import toml

    return toml.table(TABLE, Collectors)


@functools.cache
def collectors() -> Collectors:
    """All parts of the inspection of a host."""
    return compiled.load("collectors", (TABLE, __file__), build, Collectors)


def table() -> tuple[Command, ...]:
    """The declared commands."""
    return collectors().command


def clean_lines(data: bytes) -> tuple[str, ...]:
    """The output of a program or the content of a small file as clean lines."""
    text = b"".join(TextSource.of_bytes("", data).buffers()).decode("utf-8", "replace")
    return tuple(text.split("\n")[:-1])


def run_command(argv: Sequence[str], timeout: float, cancel: threading.Event | None = None) -> CommandResult:
    """Run a program for at most ``timeout`` seconds, or until ``cancel`` is set. Raises nothing."""
    ran = run.run(argv, timeout, (cancel or threading.Event()).is_set)
    lines = clean_lines(ran.output)
    return CommandResult(lines, ran.status, run.reason(ran, (*reversed(clean_lines(ran.errors)), *lines)))
