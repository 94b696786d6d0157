"""A machine as its files and answers: ``/`` for this one, a folder for a recorded one. The readers are on this.

A recorded tree is foreign data: links that lead out of it are not followed, reading is bounded, a pipe does not block.
What no file tells (the size of a file system, addresses in the order of the kernel, the output of a program) is asked
through `Tree.ask` and `Tree.output`, so that a recording can answer again what it answered first.
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
    """A machine's files: ``root`` and the ``host`` that they mention.

    ``refused`` collects the files that exist and could not be read, with the reason; what is absent is not among them.
    ``failures`` says which readers came to no end, and why.
    ``live`` is True for the machine at hand; ``replies`` where programs can be asked: there, or in a recording of it.
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
        """The answer to a question that no file answers (plain JSON values); None where there is no one to ask.

        It is asked once; the same question later has the same answer.
        """
        if self.live and name not in self.answers:
            self.answers[name] = question()
        return self.answers.get(name)

    def output(self, command: Command, limit: float, cancel: threading.Event | None = None) -> CommandResult:
        """What a declared command prints here."""
        return run_command(command.argv, limit, cancel)

    def place(self, path: str) -> str:
        """Where ``path`` (written without a leading slash) stands: the source of its spans."""
        return f"/{path}" if self.live else str(self.root / path)

    def matches(self, pattern: str) -> list[str]:
        """Paths that a pattern such as ``home/*/.nccl.conf`` stands for; ``*`` within one part of a path only."""
        return [path for path in matches(pattern, self.names, {}) if self.exists(path)]

    def data(self, path: str) -> bytes | None:
        """Content of a file, None when it is absent or cannot be read."""
        try:
            return content(self._inside(path), READ_LIMIT)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.refused[path] = getattr(error, "strerror", None) or str(error)
            return None

    def text(self, path: str) -> str | None:
        """Content of a file without white space around it; None when it is absent, unreadable or empty."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace").replace("\0", " ").strip() or None

    def lines(self, path: str) -> list[str] | None:
        """Lines of a file; None when it is absent or unreadable."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace").splitlines()

    def number(self, path: str, base: int = 10) -> int | None:
        """An integer from a file; None when it holds none. ``base`` 0 reads ``0x1f`` as well."""
        try:
            return int(self.text(path) or "", base)
        except ValueError:
            return None

    def names(self, path: str) -> list[str] | None:
        """Entries of a folder, ``mlx5_2`` before ``mlx5_10``; None when it does not exist or cannot be read."""
        try:
            return sorted(os.listdir(self._inside(path)), key=natural)  # noqa: PTH208  (names are wanted)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.refused[path] = getattr(error, "strerror", None) or str(error)
            return None

    def exists(self, path: str) -> bool:
        """Tell whether there is a file, folder or link of that name."""
        return os.path.lexists(self.root / path)

    def target(self, path: str) -> str | None:
        """Last part of what a link points to, as written."""
        return (self.link(path) or "").rstrip("/").rpartition("/")[2] or None

    def link(self, path: str) -> str | None:
        """What a link points to, as written; in a recording without links, the text of the file there."""
        place = self.root / path
        try:
            return str(place.readlink())
        except OSError:
            return None if self.live or place.is_dir() else self.text(path)

    def fact(
        self, path: str, entity: str, *key: str | int, text: str | None = None, line: int = 1, **fields: Any,  # noqa: ANN401
    ) -> Observation:  # fmt: skip
        """An observation read from ``path``, whose content ``text`` is where the caller has it at hand.

        ``line`` 0 is for what is not a line of a file: a folder, a link, a system call.
        """
        if text is None:
            text = self.text(path) or ""
        known = {name: value for name, value in fields.items() if value is not None}
        where = span(self.place(path), line, text.split("\n", 1)[0])
        return Observation(entity=entity, key=key, host=self.host, span=where, fields=known)

    def told(
        self, path: str, entity: str, *key: str | int, text: str | None = None, **fields: Any,  # noqa: ANN401
    ) -> Iterator[Observation]:  # fmt: skip
        """The fact, or nothing when the file tells none of the fields."""
        if any(value is not None for value in fields.values()):
            yield self.fact(path, entity, *key, text=text, **fields)

    def whole(self, path: str, *kinds: str) -> Observation:
        """Say that collections were seen whole (``Host.complete``)."""
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
