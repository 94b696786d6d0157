"""Ctrl-C ends the reading, not the answer: what was read until then is judged and reported."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, final


@final
class Interruption:
    """A context in which the first Ctrl-C stops the reading of sources and the second one ends the program.

    ``happened`` tells whether there was one.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """Nothing happened yet. ``quiet``: do not tell the person how to end at once."""
        self.happened = False
        self._quiet = quiet
        self._reading = False
        self._previous: Any = None

    def __enter__(self) -> Interruption:
        self._previous = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        again, self.happened = self.happened, True
        if not again and not self._quiet:
            os.write(2, b"ncdiag: interrupted; finishing with what is there, Ctrl-C again ends at once\n")
        if again or self._reading:
            raise KeyboardInterrupt  # else in the middle of a buffer: the next read sees it

    def watch(self, items: Iterable[Any]) -> Iterator[Any]:
        """The same items until Ctrl-C; those that are sources (they have ``buffers``) are watched themselves."""
        for item in self._until_interrupted(iter(items)):
            yield Watched(item, self) if hasattr(item, "buffers") else item

    def _until_interrupted(self, items: Iterator[Any]) -> Iterator[Any]:
        while not self.happened:
            try:
                self._reading = True
                item = next(items)
            except (StopIteration, KeyboardInterrupt):
                return
            finally:
                self._reading = False
            yield item


class Watched:
    """A source whose buffers end at Ctrl-C, with a note that they do; everything else is the source's own."""

    def __init__(self, source: Any, interruption: Interruption) -> None:  # noqa: ANN401  (any kind of source)
        """Wrap ``source``."""
        self._source, self._interruption = source, interruption

    @property
    def inner(self) -> Any:  # noqa: ANN401
        """The source itself, as worker processes read it."""
        return self._source

    @property
    def interrupted(self) -> bool:
        """Was there a Ctrl-C?"""
        return self._interruption.happened

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """What the source itself says."""
        return getattr(self._source, name)

    def buffers(self) -> Iterator[bytes]:
        """The buffers until Ctrl-C."""
        yield from self._interruption._until_interrupted(self._source.buffers())  # noqa: SLF001  (one unit)
        if self._interruption.happened:
            self._source.notes.append("interrupted: the rest was not read")
