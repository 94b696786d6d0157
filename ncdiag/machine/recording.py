"""Record everything that the readers ask a machine, and answer the same questions from the recording elsewhere.

`RecordingTree` reads this machine (or a recorded tree) and keeps all answers; `ReplayedTree` answers only from the
recording. The readers do not know the difference, so both give the same facts.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.agent.hide import file_without_secrets, hide_secrets
from ncdiag.machine.command import Command, CommandResult
from ncdiag.machine.tree import Tree


class Replies(msgspec.Struct, kw_only=True):
    """The answers of a machine except texts, by path without a leading slash; ``answers`` by name.

    ``replies``: it was a live machine, not a tree of files. ``failures`` maps readers that did not finish to the
    reason.
    """

    host: str
    replies: bool = True
    folders: dict[str, list[str]] = {}
    links: dict[str, str] = {}
    present: list[str] = []
    refused: dict[str, str] = {}
    failures: dict[str, str] = {}
    answers: dict[str, Any] = {}


class Recorded(Replies, kw_only=True):
    """All answers of a machine: also the ``files``, by path, and the ``outputs`` of programs, by name.

    ``output`` of each result is clean; secrets were removed from files and outputs.
    """

    files: dict[str, bytes] = {}
    outputs: dict[str, CommandResult] = {}


class RecordingTree(Tree):
    """Reads a machine like `Tree` and keeps everything in ``recorded``."""

    def __init__(self, root: Path, host: str) -> None:
        """As `Tree`."""
        super().__init__(root, host)
        self.recorded = Recorded(
            host=host, replies=self.replies, refused=self.refused, failures=self.failures, answers=self.answers
        )

    def output(self, command: Command, limit: float, cancel: threading.Event | None = None) -> CommandResult:
        """Run the command and keep its result."""
        result = super().output(command, limit, cancel)
        result = msgspec.structs.replace(result, output=tuple(hide_secrets(line) for line in result.output))
        self.recorded.outputs[command.name] = result
        return result

    def data(self, path: str) -> bytes | None:
        """Read the file and keep its content."""
        found = super().data(path)
        if found is not None:
            found = file_without_secrets(path, found)
            self.recorded.files[path] = found
        return found

    def names(self, path: str) -> list[str] | None:
        """List the folder and keep its entries."""
        found = super().names(path)
        if found is not None:
            self.recorded.folders[path] = found
        return found

    def exists(self, path: str) -> bool:
        """Check the path and record it if it exists."""
        found = super().exists(path)
        if found:
            self.recorded.present.append(path)
        return found

    def link(self, path: str) -> str | None:
        """Read the link and keep its target."""
        found = super().link(path)
        if found is not None:
            self.recorded.links[path] = found
        return found


class ReplayedTree(Tree):
    """Answers from a recording; ``place`` names the archive that holds it."""

    def __init__(self, recorded: Recorded, archive: str) -> None:
        """No file of this machine is read."""
        super().__init__(Path("/nonexistent"), recorded.host)
        self.live, self.replies = False, recorded.replies
        self.answers, self.failures = recorded.answers, recorded.failures
        self._recorded, self._archive = recorded, archive
        self._present = {"", *recorded.present, *recorded.files, *recorded.folders, *recorded.links, *recorded.refused}
        for path in list(self._present):
            self._add_parents(path)
        for folder, names in recorded.folders.items():
            self._present.update(f"{folder}/{name}" for name in names)

    def _add_parents(self, path: str) -> None:
        while "/" in path:
            path = path.rpartition("/")[0]
            self._present.add(path)

    def output(self, command: Command, _limit: float, _cancel: threading.Event | None = None) -> CommandResult:
        """The recorded result of the command."""
        return self._recorded.outputs.get(command.name) or CommandResult(reason="not in the bundle")

    def place(self, path: str) -> str:
        """``archive:/path``."""
        return f"{self._archive}:/{path}"

    def data(self, path: str) -> bytes | None:
        """The recorded content of the file."""
        self._refuse(path)
        return self._recorded.files.get(path)

    def names(self, path: str) -> list[str] | None:
        """The recorded entries of the folder."""
        self._refuse(path)
        return self._recorded.folders.get(path)

    def exists(self, path: str) -> bool:
        """True if the path existed when it was recorded."""
        return path in self._present

    def link(self, path: str) -> str | None:
        """The recorded target of the link; as `Tree.link` if the recording has no links."""
        found = self._recorded.links.get(path)
        return self.text(path) if found is None and not self.replies else found

    def _refuse(self, path: str) -> None:
        if path in self._recorded.refused:
            self.refused[path] = self._recorded.refused[path]
