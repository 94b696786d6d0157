"""A machine as its files and answers: ``/`` for this machine, a folder for a recorded one. All readers use it.

A recorded tree is untrusted: links that lead out of it are not followed, reading is limited, a pipe does not block.
What is not in a file (the size of a file system, addresses in the kernel's order, the output of a program) is read
through `Tree.ask` and `Tree.output`, so that a recording can return the same answer later.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ncdiag.agent.look import READ_LIMIT, content, matches, natural
from ncdiag.base.spans import span
from ncdiag.facts.observe import Observation
from ncdiag.machine.command import Command, CommandResult, run_command


class Tree:
    """The files of a machine: its ``root``, and the ``host`` of the observations.

    ``refused`` maps files that exist but could not be read to the reason; absent files are not in it.
    ``failures`` maps readers that did not finish to the reason.
    ``live`` is True for this machine; ``replies`` if programs can be run: on this machine, or in a recording of one.
    """

    def __init__(self, root: Path, host: str) -> None:
        """``root`` is ``/`` for this machine."""
        self.root, self.host = root, host
        self.live = self.replies = str(root) == "/"
        self.refused: dict[str, str] = {}
        self.failures: dict[str, str] = {}
        self.answers: dict[str, Any] = {}
        self._real = os.path.realpath(root)

    def ask(self, name: str, question: Callable[[], Any]) -> Any:  # noqa: ANN401
        """The answer to a question that no file answers (plain JSON values); None if the tree cannot answer.

        It is asked once; later calls return the same answer.
        """
        if self.live and name not in self.answers:
            self.answers[name] = question()
        return self.answers.get(name)

    def output(self, command: Command, limit: float, cancel: threading.Event | None = None) -> CommandResult:
        """The result of a declared command on this machine."""
        return run_command(command.argv, limit, cancel)

    def place(self, path: str) -> str:
        """The full path of ``path`` (written without a leading slash): the source of its spans."""
        return f"/{path}" if self.live else str(self.root / path)

    def matches(self, pattern: str) -> list[str]:
        """The paths that match a pattern such as ``home/*/.nccl.conf``; ``*`` matches within one part of a path."""
        return [path for path in matches(pattern, self.names, {}) if self.exists(path)]

    def data(self, path: str) -> bytes | None:
        """The content of a file; None if it is absent or cannot be read."""
        try:
            return content(self._inside(path), READ_LIMIT)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.refused[path] = getattr(error, "strerror", None) or str(error)
            return None

    def text(self, path: str) -> str | None:
        """The content of a file without surrounding white space; None if it is absent, unreadable or empty."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace").replace("\0", " ").strip() or None

    def lines(self, path: str) -> list[str] | None:
        """The lines of a file; None if it is absent or unreadable."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace").splitlines()

    def number(self, path: str, base: int = 10) -> int | None:
        """The integer in a file; None if there is none. ``base`` 0 also accepts ``0x1f``."""
        try:
            return int(self.text(path) or "", base)
        except ValueError:
            return None

    def names(self, path: str) -> list[str] | None:
        """The entries of a folder, ``mlx5_2`` before ``mlx5_10``; None if it does not exist or cannot be read."""
        try:
            return sorted(os.listdir(self._inside(path)), key=natural)  # noqa: PTH208  (names are wanted)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.refused[path] = getattr(error, "strerror", None) or str(error)
            return None

    def exists(self, path: str) -> bool:
        """True if a file, folder or link of that name exists."""
        return os.path.lexists(self.root / path)

    def target(self, path: str) -> str | None:
        """The last part of a link's target, as written."""
        return (self.link(path) or "").rstrip("/").rpartition("/")[2] or None

    def link(self, path: str) -> str | None:
        """The target of a link, as written; in a recording without links, the text of the file at that place."""
        place = self.root / path
        try:
            return str(place.readlink())
        except OSError:
            return None if self.live or place.is_dir() else self.text(path)

    def fact(
        self, path: str, entity: str, *key: str | int, text: str | None = None, line: int = 1, **fields: Any,  # noqa: ANN401
    ) -> Observation:  # fmt: skip
        """An observation read from ``path``; ``text`` is its content, if the caller has read it already.

        ``line`` 0 means that the source is not a line of a file: a folder, a link, a system call.
        """
        if text is None:
            text = self.text(path) or ""
        known = {name: value for name, value in fields.items() if value is not None}
        where = span(self.place(path), line, text.split("\n", 1)[0])
        return Observation(entity=entity, key=key, host=self.host, span=where, fields=known)

    def told(
        self, path: str, entity: str, *key: str | int, text: str | None = None, **fields: Any,  # noqa: ANN401
    ) -> Iterator[Observation]:  # fmt: skip
        """The observation as of `fact`, or nothing if all fields are None."""
        if any(value is not None for value in fields.values()):
            yield self.fact(path, entity, *key, text=text, **fields)

    def whole(self, path: str, *kinds: str) -> Observation:
        """An observation that collections were read completely (``Host.complete``)."""
        return self.fact(path, "Host", text="", line=0, complete=list(kinds))

    def _inside(self, path: str) -> str:
        place = f"{self._real.rstrip('/')}/{path}"
        if self.live:
            return place
        real = os.path.realpath(place)
        if real != self._real and not real.startswith(self._real + "/"):
            msg = "leads out of the recorded tree"
            raise ValueError(msg)
        return real
