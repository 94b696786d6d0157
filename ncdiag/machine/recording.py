"""A machine that is looked at once and answers again elsewhere: what every reader asked, with what it was told.

`RecordingTree` is this machine (or a recorded tree) and keeps all that it was asked; `ReplayedTree` answers from what
was kept, and nothing else. The readers do not know the difference, so both give the same facts.
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
    """What a machine answered but for its texts, by path without a leading slash; ``answers`` by name.

    ``replies``: it was a machine that could be asked, no tree of files. ``failures`` are readers that came to no end,
    with the reason.
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
    """All that a machine answered: the ``files`` as well, by path, and the ``outputs`` of programs, by name.

    ``output`` of each result is clean; secrets are removed from files and outputs before they come here.
    """

    files: dict[str, bytes] = {}
    outputs: dict[str, CommandResult] = {}


class RecordingTree(Tree):
    """Looks at a machine as `Tree` does and keeps everything in ``recorded``."""

    def __init__(self, root: Path, host: str) -> None:
        """As `Tree`."""
        super().__init__(root, host)
        self.recorded = Recorded(
            host=host, replies=self.replies, refused=self.refused, failures=self.failures, answers=self.answers
        )

    def output(self, command: Command, limit: float, cancel: threading.Event | None = None) -> CommandResult:
        """Run it and keep what it printed."""
        result = super().output(command, limit, cancel)
        result = msgspec.structs.replace(result, output=tuple(hide_secrets(line) for line in result.output))
        self.recorded.outputs[command.name] = result
        return result

    def data(self, path: str) -> bytes | None:
        """Read and keep it."""
        found = super().data(path)
        if found is not None:
            found = file_without_secrets(path, found)
            self.recorded.files[path] = found
        return found

    def names(self, path: str) -> list[str] | None:
        """List and keep it."""
        found = super().names(path)
        if found is not None:
            self.recorded.folders[path] = found
        return found

    def exists(self, path: str) -> bool:
        """Look and keep that it is there."""
        found = super().exists(path)
        if found:
            self.recorded.present.append(path)
        return found

    def link(self, path: str) -> str | None:
        """Read a link and keep it."""
        found = super().link(path)
        if found is not None:
            self.recorded.links[path] = found
        return found


class ReplayedTree(Tree):
    """Answers from what was recorded; ``place`` is the name of the archive that it comes from."""

    def __init__(self, recorded: Recorded, archive: str) -> None:
        """Files of the machine at hand are never looked at."""
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
        """What it printed then."""
        return self._recorded.outputs.get(command.name) or CommandResult(reason="not in the bundle")

    def place(self, path: str) -> str:
        """``archive:/path``."""
        return f"{self._archive}:/{path}"

    def data(self, path: str) -> bytes | None:
        """What the file held then."""
        self._refuse(path)
        return self._recorded.files.get(path)

    def names(self, path: str) -> list[str] | None:
        """What the folder held then."""
        self._refuse(path)
        return self._recorded.folders.get(path)

    def exists(self, path: str) -> bool:
        """Whether it was there then."""
        return path in self._present

    def link(self, path: str) -> str | None:
        """Where the link led then; as `Tree.link` in a recording without links."""
        found = self._recorded.links.get(path)
        return self.text(path) if found is None and not self.replies else found

    def _refuse(self, path: str) -> None:
        if path in self._recorded.refused:
            self.refused[path] = self._recorded.refused[path]
